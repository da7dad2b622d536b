// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The forecast as text, with a table for each program and lines to paste, and
// as JSON.

#include "Advice/Forecast.h"
#include "Support/Format.h"
#include "Support/JsonItem.h"
#include "Support/Table.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace mpg;

static uint64_t nodePages(const Forecast &forecast) {
  return SaturatingMultiply<uint64_t>(forecast.pages(), forecast.ranks);
}

static uint64_t normalNodeBytes(const Forecast &forecast) {
  return SaturatingMultiply<uint64_t>(forecast.normalBytes, forecast.ranks);
}

static uint64_t allNodeBytes(const Forecast &forecast) {
  return SaturatingAdd(
      SaturatingMultiply<uint64_t>(nodePages(forecast), factsHugeBytes),
      normalNodeBytes(forecast));
}

static void writeTable(raw_ostream &out, const Forecast &forecast) {
  Table table(
      {"pages of 2 MiB", "size|a process", "size|a node", "because of"});
  for (const ForecastPart &part : forecast.parts)
    table.addRow({part.name,
                  part.pages ? std::to_string(*part.pages) : "not known",
                  part.pages ? std::to_string(SaturatingMultiply<uint64_t>(
                                   *part.pages, forecast.ranks))
                             : "",
                  printable(part.reason)});
  StringRef sign = forecast.isWhole() ? "" : ">= ";
  table.addRow({"all", (sign + Twine(forecast.pages())).str(),
                (sign + Twine(nodePages(forecast))).str(), ""});
  table.write(out, /*indent=*/2);
}

static void writeForecast(raw_ostream &out, const Forecast &forecast) {
  out << printable(forecast.program) << ": " << forecast.ranks
      << (forecast.ranks == 1 ? " process" : " processes") << " on a node"
      << (forecast.areRanksKnown ? "" : " (not known: one assumed)") << "\n";
  writeTable(out, forecast);
  out << "  memory on base pages, a process: "
      << (forecast.isWhole() ? "" : "files alone, ")
      << formatBytes(forecast.normalBytes) << "\n";
  for (const std::string &note : forecast.notes)
    writeFilled(out, "  ", printable(note), 4);
}

static uint64_t toMebibytes(uint64_t bytes) {
  return divideCeil(bytes, uint64_t(1) << 20);
}

/// The settings for a whole job. The programs of a script run one after
/// another, so those of the largest suffice.
static void writeSettings(raw_ostream &out, const Forecast &largest) {
  uint64_t pages = nodePages(largest);
  uint64_t all = toMebibytes(allNodeBytes(largest));
  out << "write" << (largest.isWhole() ? "" : ", at least: the heap is missing")
      << "\n  sysctl vm.nr_hugepages=" << pages << "\n  #SBATCH --mem=" << all
      << "M\n  #PJM -L \"node-mem=" << all
      << "Mi\"\n  Kubernetes, requests and limits: hugepages-2Mi: " << pages * 2
      << "Mi, memory: " << toMebibytes(normalNodeBytes(largest)) << "Mi\n";
}

/// The largest forecast of each container: the programs of a container run one
/// after another, the containers of a pod at the same time. A job without
/// containers has one entry, with a null key.
static MapVector<const JobContainer *, const Forecast *>
findLargest(ArrayRef<Forecast> forecasts) {
  MapVector<const JobContainer *, const Forecast *> largest;
  for (const Forecast &forecast : forecasts) {
    const Forecast *&known = largest[forecast.container];
    if (!known || nodePages(forecast) > nodePages(*known))
      known = &forecast;
  }
  return largest;
}

static bool areWhole(ArrayRef<Forecast> forecasts) {
  return all_of(forecasts,
                [](const Forecast &forecast) { return forecast.isWhole(); });
}

static void writeContainers(raw_ostream &out, ArrayRef<Forecast> forecasts) {
  out << "write"
      << (areWhole(forecasts) ? "" : ", at least: the heap is missing") << "\n";
  uint64_t pages = 0;
  for (auto [container, forecast] : findLargest(forecasts)) {
    pages = SaturatingAdd(pages, nodePages(*forecast));
    out << "  container " << printable(container->name)
        << ": resources: {limits: {hugepages-2Mi: " << nodePages(*forecast) * 2
        << "Mi, memory: " << toMebibytes(normalNodeBytes(*forecast))
        << "Mi}}\n";
  }
  out << "  pages that these containers take on a node: " << pages << "\n";
}

void mpg::writeForecasts(raw_ostream &out, ArrayRef<Forecast> forecasts) {
  const Forecast *largest = nullptr;
  for (const Forecast &forecast : forecasts) {
    writeForecast(out, forecast);
    if (!largest || nodePages(forecast) > nodePages(*largest))
      largest = &forecast;
  }
  if (largest && largest->container)
    return writeContainers(out, forecasts);
  if (forecasts.size() > 1)
    out << "most at once: " << printable(largest->program)
        << ", if the programs run one after another\n";
  if (largest)
    writeSettings(out, *largest);
}

// JSON

/// Readers of JSON hold integers in int64_t; a sum that saturated is larger.
static JsonItem cappedItem(uint64_t value) {
  return std::min<uint64_t>(value, INT64_MAX);
}

static JsonObject forecastItem(const Forecast &forecast) {
  auto part = [](const ForecastPart &one) {
    return JsonObject{{"name", one.name},
                      {"pages", one.pages ? cappedItem(*one.pages) : nullptr},
                      {"reason", one.reason}};
  };
  return {{"program", forecast.program},
          {"container",
           forecast.container ? JsonItem(forecast.container->name) : nullptr},
          {"processes", forecast.ranks},
          {"processes_known", forecast.areRanksKnown},
          {"parts", jsonList(forecast.parts, part)},
          {"complete", forecast.isWhole()},
          {"pages", cappedItem(forecast.pages())},
          {"node_pages", cappedItem(nodePages(forecast))},
          {"base_bytes", cappedItem(forecast.normalBytes)},
          {"notes", forecast.notes}};
}

void mpg::writeForecastsJson(raw_ostream &out, ArrayRef<Forecast> forecasts) {
  uint64_t pages = 0, baseBytes = 0;
  for (auto [container, forecast] : findLargest(forecasts)) {
    pages = SaturatingAdd(pages, nodePages(*forecast));
    baseBytes = SaturatingAdd(baseBytes, normalNodeBytes(*forecast));
  }
  uint64_t bytes = SaturatingAdd(
      SaturatingMultiply<uint64_t>(pages, factsHugeBytes), baseBytes);
  writeJson(
      out,
      JsonObject{{"schema", "mpgforecast-1"},
                 {"version", MPG_VERSION},
                 {"programs", jsonList(forecasts, forecastItem)},
                 {"node", JsonObject{{"complete", areWhole(forecasts)},
                                     {"pages", cappedItem(pages)},
                                     {"base_bytes", cappedItem(baseBytes)},
                                     {"bytes", cappedItem(bytes)}}}},
      /*indent=*/2);
  out << "\n";
}
