# SPDX-License-Identifier: Apache-2.0
import choose

ROW = '    {CpuClass::kZen4, Work::kProduct, DType::kFloat, true, 16, "lo"},'


def run(name, time, **more):
    return {"name": f"choice/{name}/real_time", "real_time": time, **more}


def report():
    place = "product/float32/1/16"
    return {
        "benchmarks": [
            run(f"{place}/0/square/own", 9, run_type="iteration"),
            run(f"{place}/0/square/own", 6, run_type="iteration"),
            run(f"{place}/0/square/own", 1, run_type="aggregate"),
            run(f"{place}/0/square/library", 5),
            run(f"{place}/1/square/library", 5),
            run(f"{place}/1/square/own", 10),
            run(f"{place}/1/wide/library", 9),
            run(f"{place}/1/wide/own", 4),
        ]
    }


def test_the_shortest_time_of_each_shape_counts_and_shapes_by_their_ratio():
    found = choose.times(report())
    (sizes,) = found.values()
    assert sizes[0]["square"] == {"own": 6, "library": 5}
    assert abs(choose.ratio(sizes[1]) - (0.5 * 2.25) ** 0.5) < 1e-12
    assert choose.rows("kZen4", found) == [ROW]


def test_level_ways_are_own():
    level = {0: {"square": {"own": 100, "library": 100 / choose.LEVEL + 0.01}}}
    behind = {0: {"square": {"own": 100, "library": 100 / choose.LEVEL - 0.01}}}
    assert choose.letters(level) == "o" and choose.letters(behind) == "l"


def test_rows_of_one_cpu_are_replaced_and_those_of_others_stay():
    other = ROW.replace("kZen4", "kZen5")
    old = choose.HEAD + ROW.replace('"lo"', '"ll"') + "\n" + other + "\n" + choose.TAIL
    assert choose.merged(old, "kZen4", [ROW]) == choose.HEAD + ROW + "\n" + other + "\n" + choose.TAIL


def test_the_table_in_the_repository_is_one_that_the_script_writes():
    text = choose.TABLE.read_text()
    assert choose.merged(text, "kZen4", [line for line in text.splitlines() if "CpuClass::kZen4" in line]) == text
