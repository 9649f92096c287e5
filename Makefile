# SPDX-License-Identifier: Apache-2.0
# What a person types. Every target sets up all it needs first (cmake/setup.sh); the work is in the scripts named here.
.PHONY: help demo test check bench bench-build bench-compare corpus lint format docs sanitize fuzz mutation planted conformance hosts clients wheel wheels

help:
	@echo "make demo      migrate small PyTorch and TensorFlow scripts, train them on the software NPU and compare with the CPU"
	@echo "make test      build, check and test everything; prints the minutes of each part"
	@echo "make check FILES=\"a.cpp b.py\"   run the tests that a change is most likely to break, in three minutes (tests/near.py)"
	@echo "make bench     time operators, models and collectives against CPU torch, OpenMPI and gloo"
	@echo "make bench-build   what the minutes of the last build were spent on (docs/speed.md)"
	@echo "make bench-compare OLD=a.json NEW=b.json   what became slower between two runs (docs/speed.md)"
	@echo "make corpus    migrate 6,000 files of installed packages in all modes and check what is promised of each"
	@echo "make lint      clang-tidy over all C++ sources"
	@echo "make format    let clang-format and ruff rewrite what they would refuse"
	@echo "make docs      write the generated pages of docs/ again"
	@echo "make sanitize  tests under ASan+UBSan and TSan"
	@echo "make fuzz      damaged dump files, models, graphs, flags and their files, ten minutes each under ASan+UBSan"
	@echo "make mutation  plant faults in copies of the sources, one by one, and see that a test catches each"
	@echo "make planted   plant ten faults in the product and in scripts, and see that one command names each of them first"
	@echo "make conformance  all collectives, types, operators and sizes on 2 to 8 ranks against NumPy"
	@echo "make hosts     ranks on several hosts, made of namespaces: results, training, faults of hosts and wires (as root)"
	@echo "make clients   20,000 random calls of PyTorch, and the frameworks of docs/clients.md, on the NPU against the CPU"
	@echo "make wheel     build dist/anynpu-*.whl"
	@echo "make wheels    look at every torch-npu wheel, and use some of them (20 GB of downloads; as root); writes docs/wheels.md"

demo:
	@tests/run announce core install
	@.venv/bin/python examples/demo.py

test:
	@tests/run format build ctest install pytest

check:
	@tests/run check $(FILES)

bench-build:
	@python3 tests/bench/build_time.py

bench:
	@tests/run build install bench

bench-compare:
	@python3 tests/bench/change.py "$(OLD)" "$(NEW)"

corpus:
	@tests/run corpus

lint:
	@tests/run lint

format:
	@tests/run reformat

docs:
	@tests/run core docs

sanitize:
	@tests/run sanitize

fuzz:
	@tests/run fuzz

mutation:
	@tests/run mutation

planted:
	@tests/run core install planted

conformance:
	@tests/run core install conformance

hosts:
	@tests/run core install hosts

clients:
	@tests/run core install clients

wheel:
	@tests/run core wheel

wheels:
	@tests/run core install wheel wheels
