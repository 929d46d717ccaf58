// SPDX-License-Identifier: MIT
/*
 * libgpucounters-record   samples counters by libGPUCounters' device layer
 *
 *   libgpucounters-record RECORD
 *   libgpucounters-record -e PERIOD_NS
 *
 * Writes to RECORD what its samplers were given, in the form of perf-exact, so that `exactness`
 * can compare it with what the GPU has counted: a manual sampler with all counters of all blocks,
 * and two periodic ones with some of them, which run at the same time, and again and again.
 *
 * -e samples until that fails, manually if PERIOD_NS is 0, and tells what happens: "sampling" when
 * the first sample has come, "flagged" at the first one that is flagged as wrong, "exact" at the
 * first one after it that is not, and "ended: " with the error.
 */
#include <device/handle.hpp>
#include <device/hwcnt/reader.hpp>
#include <device/hwcnt/sample.hpp>
#include <device/hwcnt/sampler/configuration.hpp>
#include <device/hwcnt/sampler/manual.hpp>
#include <device/hwcnt/sampler/periodic.hpp>
#include <device/instance.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <poll.h>

#include "exactness.h"

namespace dev = hwcpipe::device;
using dev::hwcnt::block_type;
using dev::hwcnt::sampler::configuration;

namespace {

constexpr uint32_t reserved = 4;
constexpr unsigned periodic_samplers = 2;
constexpr unsigned periodic_runs = 25;
constexpr unsigned manual_rounds = 60;
/* A sample's flags, as the kernel has them; the library does not tell the first two apart. */
constexpr uint32_t flag_error = 2;
constexpr uint32_t flag_stretched = 4;

struct block_place {
	block_type type;
	unsigned exact_type;
};

/* The kernel's order of blocks. */
const block_place places[] = {
	{ block_type::firmware, 1 }, { block_type::csg, 2 }, { block_type::fe, 3 },
	{ block_type::tiler, 4 }, { block_type::memory, 5 }, { block_type::core, 6 },
};

[[noreturn]] void die(const std::string &text)
{
	std::cout << std::flush;
	std::cerr << "libgpucounters-record: " << text << std::endl;
	exit(1);
}

void check(const std::error_code &ec, const std::string &what)
{
	if (ec)
		die(what + ": " + ec.message());
}

class recorder {
public:
	recorder(const dev::instance &instance, const char *path)
		: instance_(instance), extents_(instance.get_hwcnt_block_extents()),
		  file_(fopen(path, "wb"))
	{
		const auto constants = instance.get_constants();
		exact_head head = {};

		if (!file_)
			die(std::string("cannot write ") + path);
		head.magic = EXACT_MAGIC;
		head.gpu_id = static_cast<uint32_t>(constants.gpu_id);
		head.shader_present = constants.shader_core_mask;
		head.values = extents_.counters_per_block();
		for (const auto &place : places)
			head.count[place.exact_type] = extents_.num_blocks_of_type(place.type);
		head.sessions = 1 + periodic_samplers;
		put(&head, sizeof(head));
	}

	~recorder()
	{
		if (fclose(file_))
			die("the record cannot be written");
	}

	const dev::instance &instance() const { return instance_; }
	const dev::hwcnt::block_extents &extents() const { return extents_; }
	uint32_t values() const { return extents_.counters_per_block(); }

	void put_run(const exact_run &run, const std::vector<exact_sample> &samples,
		     const std::vector<uint64_t> &sums)
	{
		std::lock_guard<std::mutex> lock(mutex_);

		put(&run, sizeof(run));
		put(samples.data(), samples.size() * sizeof(samples[0]));
		put(sums.data(), sums.size() * sizeof(sums[0]));
	}

private:
	void put(const void *data, size_t size)
	{
		if (size && fwrite(data, size, 1, file_) != 1)
			die("the record cannot be written");
	}

	const dev::instance &instance_;
	const dev::hwcnt::block_extents extents_;
	FILE *file_;
	std::mutex mutex_;
};

/* The configuration of all blocks there are, of counters whose number is 0 modulo one_of. */
std::vector<configuration> configure(const dev::hwcnt::block_extents &extents, unsigned one_of)
{
	std::vector<configuration> result;

	for (const auto &place : places) {
		configuration c = {};

		c.type = place.type;
		c.set = dev::hwcnt::prfcnt_set::primary;
		for (unsigned i = 0; i < extents.counters_per_block(); i += one_of)
			c.enable_map.set(i);
		if (extents.num_blocks_of_type(place.type))
			result.push_back(c);
	}
	return result;
}

/* One run of a sampler: its samples, and their sums. */
class run_of {
public:
	run_of(recorder &to, const std::vector<configuration> &config, unsigned client,
	       uint64_t start_data, uint64_t period_ns)
		: to_(to), blocks_(to.extents().num_blocks()), sums_(blocks_ * to.values())
	{
		run_.start_data = start_data;
		run_.client = client;
		run_.period_ns = period_ns;
		for (const auto &c : config) {
			for (const auto &place : places) {
				for (unsigned i = 0; place.type == c.type && i < to.values(); i++)
					run_.mask[place.exact_type][i / 64] |=
						static_cast<uint64_t>(c.enable_map[i]) << (i % 64);
			}
		}
	}

	/* Reads the next sample; the last one has another tag in the kernel than for us. */
	uint64_t read(dev::hwcnt::reader &reader)
	{
		std::vector<bool> seen(blocks_);
		exact_sample s = {};
		std::error_code ec;
		unsigned blocks = 0;

		{
			dev::hwcnt::sample sample(reader, ec);

			check(ec, "a sample");
			const auto &metadata = sample.get_metadata();

			if (metadata.timestamp_ns_end < metadata.timestamp_ns_begin ||
			    (!samples_.empty() && metadata.timestamp_ns_begin != samples_.back().end_ns))
				die("a sample is not of the time after the one before it");
			s.user_data = metadata.user_data;
			s.end_ns = metadata.timestamp_ns_end;
			s.flags = (metadata.flags.error ? flag_error : 0) |
				  (metadata.flags.stretched ? flag_stretched : 0);
			for (const auto &block : sample.blocks()) {
				const auto *v = static_cast<const uint64_t *>(block.values);
				const uint32_t n = number_of(block.type, block.index);

				if (seen[n])
					die("a sample has a block twice");
				seen[n] = true;
				blocks++;
				if (block.type == block_type::fe &&
				    metadata.timestamp_ns_end > metadata.timestamp_ns_begin &&
				    !(block.state.on || block.state.off))
					die("the front end was neither on nor off");
				for (uint32_t i = reserved; i < to_.values(); i++) {
					s.hash += v[i] * exact_factor(n * to_.values() + i);
					sums_[n * to_.values() + i] += v[i];
				}
			}
		}
		check(ec, "a sample cannot be put back");
		if (blocks != blocks_)
			die("a sample has not all of the blocks");
		samples_.push_back(s);
		return s.user_data;
	}

	/* The tag that the kernel has seen with the last sample. */
	void retag(uint64_t tag) { samples_.back().user_data = tag; }

	void end()
	{
		run_.samples = static_cast<uint32_t>(samples_.size());
		to_.put_run(run_, samples_, sums_);
	}

private:
	uint32_t number_of(block_type type, uint8_t index) const
	{
		uint32_t before = 0;

		for (const auto &place : places) {
			if (place.type == type)
				return before + index;
			before += to_.extents().num_blocks_of_type(place.type);
		}
		die("a sample has a block of an unknown type");
	}

	recorder &to_;
	const uint32_t blocks_;
	exact_run run_ = {};
	std::vector<exact_sample> samples_;
	std::vector<uint64_t> sums_;
};

bool is_readable(const dev::hwcnt::reader &reader)
{
	struct pollfd p = {};

	p.fd = reader.get_fd();
	p.events = POLLIN;
	return poll(&p, 1, 0) == 1;
}

void record_manual(recorder &to)
{
	const auto config = configure(to.extents(), 1);
	dev::hwcnt::sampler::manual sampler(to.instance(), config.data(), config.size());
	run_of run(to, config, 0, 0, 0);
	uint64_t asked = 1;

	if (!sampler)
		die("there is no manual sampler");
	check(sampler.accumulation_start(), "starting the manual sampler");
	for (unsigned round = 0; round < manual_rounds; round++) {
		const unsigned at_once = 1 + round % 4;

		for (unsigned i = 0; i < at_once; i++)
			check(sampler.request_sample(asked + i), "a request");
		for (unsigned i = 0; i < at_once; i++, asked++) {
			if (run.read(sampler.get_reader()) != asked)
				die("a manual sample is not the one that was asked for");
		}
	}
	check(sampler.accumulation_stop(asked), "stopping the manual sampler");
	if (!is_readable(sampler.get_reader()) || run.read(sampler.get_reader()) != asked)
		die("there is no last sample after the manual sampler's stop");
	if (is_readable(sampler.get_reader()))
		die("there is a sample after the last one");
	run.end();
}

void record_periodic(recorder &to, unsigned client)
{
	const uint64_t period_ns = client == 1 ? 2000000 : 7000000;
	const auto config = configure(to.extents(), 1 + client);
	dev::hwcnt::sampler::periodic sampler(to.instance(), period_ns, config.data(), config.size());

	if (!sampler)
		die("there is no periodic sampler");
	for (uint64_t n = 1; n <= periodic_runs; n++) {
		const uint64_t start_data = 1000000 * client + n;
		/* Samples may all have the same user data. */
		const uint64_t stop_data = n % 2 ? start_data : 0;
		run_of run(to, config, client, start_data, period_ns);
		uint64_t data = ~0ull;

		check(sampler.sampling_start(start_data), "starting a periodic sampler");
		for (unsigned i = 0; i < n % 5; i++) {
			if (run.read(sampler.get_reader()) != start_data)
				die("a periodic sample has not the user data of the start");
		}
		check(sampler.sampling_stop(stop_data), "stopping a periodic sampler");
		while (is_readable(sampler.get_reader())) {
			if (data != ~0ull && data != start_data)
				die("there is a sample after the last one");
			data = run.read(sampler.get_reader());
		}
		if (data != stop_data)
			die("the last sample has not the user data of the stop");
		if (stop_data == start_data)
			run.retag(~stop_data);
		run.end();
	}
}

template <typename request_t>
void sample_until_error(dev::hwcnt::reader &reader, request_t request)
{
	bool sampling = false, flagged = false, exact = false;
	std::error_code ec;

	while (!(ec = request())) {
		dev::hwcnt::sample sample(reader, ec);

		if (ec)
			break;
		if (!sampling)
			std::cout << "sampling" << std::endl;
		sampling = true;
		if (sample.get_metadata().flags.error && !flagged) {
			std::cout << "flagged" << std::endl;
			flagged = true;
		} else if (!sample.get_metadata().flags.error && flagged && !exact) {
			std::cout << "exact" << std::endl;
			exact = true;
		}
	}
	std::cout << "ended: " << ec.message() << std::endl;
}

void until_error(const dev::instance &instance, uint64_t period_ns)
{
	const auto config = configure(instance.get_hwcnt_block_extents(), 1);

	if (period_ns) {
		dev::hwcnt::sampler::periodic sampler(instance, period_ns, config.data(), config.size());

		if (!sampler)
			die("there is no periodic sampler");
		check(sampler.sampling_start(0), "starting");
		sample_until_error(sampler.get_reader(), [] { return std::error_code(); });
	} else {
		dev::hwcnt::sampler::manual sampler(instance, config.data(), config.size());

		if (!sampler)
			die("there is no manual sampler");
		check(sampler.accumulation_start(), "starting");
		sample_until_error(sampler.get_reader(), [&sampler] { return sampler.request_sample(0); });
	}
}

} // namespace

int main(int argc, char **argv)
{
	const bool errors = argc == 3 && !strcmp(argv[1], "-e");

	if (argc != 2 && !errors)
		die("usage: libgpucounters-record RECORD | -e PERIOD_NS");

	const auto handle = dev::handle::create();
	if (!handle)
		die("there is no GPU");
	const auto instance = dev::instance::create(*handle);
	if (!instance)
		die("the GPU has no counters that the library knows of");

	if (errors) {
		until_error(*instance, strtoull(argv[2], nullptr, 10));
		return 0;
	}

	recorder to(*instance, argv[1]);
	std::vector<std::thread> threads;

	for (unsigned i = 1; i <= periodic_samplers; i++)
		threads.emplace_back(record_periodic, std::ref(to), i);
	record_manual(to);
	for (auto &thread : threads)
		thread.join();
	return 0;
}
