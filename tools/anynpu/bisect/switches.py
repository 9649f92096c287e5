# SPDX-License-Identifier: Apache-2.0
"""What can be switched off: fusion passes, and nodes that compute in another dtype than the graph says."""


class Fusion:
    noun, plural = "fusion pass", "fusion passes"
    nothing = "no fusion pass did anything in this script"

    def __init__(self, folder):
        pass

    @staticmethod
    def candidates(functions):
        """In the order in which they run, those that did something in some function."""
        found = [one["pass"] for f in functions for one in f.get("fusions", []) if one["effective"] > 0]
        return list(dict.fromkeys(found))

    @staticmethod
    def off(names):
        return {"ANYNPU_FUSION_OFF": ",".join(names)}

    def all_off(self, candidates):
        """Others may take what these leave."""
        return self.off(["ALL"])

    @staticmethod
    def cure(names):
        lines = "\n".join(f"    {name}:off" for name in names)
        return f"a file of these lines, as fusion_switch_file, leaves them out:\n{lines}"


class Precision:
    noun, plural = "node", "nodes"
    nothing = "every node computes in the dtype that the graph says: no precision_mode is in force"

    def __init__(self, folder):
        self.file = folder / "keep_dtype.txt"

    @staticmethod
    def candidates(functions):
        """In the order of the graphs."""
        nodes = [node for f in functions for node in f.get("precision", [])]
        other = [one["node"] for one in nodes if one["dtype"] != one["source"] or one["inputs"] or one["outputs"]]
        return list(dict.fromkeys(other))

    def off(self, names):
        self.file.write_text("".join(f"{name}\n" for name in names))
        return {"ANYNPU_KEEP_DTYPE": str(self.file)}

    def all_off(self, candidates):
        return self.off(candidates)

    @staticmethod
    def cure(names):
        lines = "\n".join(f"    {name}=enable_float_32_execution" for name in names)
        return f"a file of these lines, as op_precision_mode, keeps them in float32:\n    [ByNodeName]\n{lines}"


KINDS = {"fusion": Fusion, "precision": Precision}
