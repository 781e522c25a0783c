// Runs TFLite networks in TensorFlow Lite Micro. Each line of standard input is `MODEL INPUT... -> PREFIX`, where inputs
// are files of raw bytes and outputs are written to PREFIX.0 and so on. Prints `ok` or `refused` per line.
// make_tflite_single.py generates `resolver.h`.

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "resolver.h"
#include "tensorflow/lite/micro/micro_interpreter.h"
#include "tensorflow/lite/schema/schema_generated.h"

static std::vector<char> read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

static bool run(const Resolver& resolver, const std::string& line, std::vector<uint8_t>& arena) {
  std::istringstream words(line);
  std::string model_path, word, prefix;
  std::vector<std::string> inputs;
  words >> model_path;
  while (words >> word && word != "->") inputs.push_back(word);
  words >> prefix;
  const std::vector<char> bytes = read(model_path);
  std::vector<uint64_t> aligned(bytes.size() / 8 + 1);
  std::memcpy(aligned.data(), bytes.data(), bytes.size());
  tflite::MicroInterpreter interpreter(tflite::GetModel(aligned.data()), resolver, arena.data(), arena.size());
  if (interpreter.AllocateTensors() != kTfLiteOk) return false;
  for (size_t i = 0; i < inputs.size(); i++) {
    const std::vector<char> data = read(inputs[i]);
    if (data.size() != interpreter.input(i)->bytes) return false;
    std::memcpy(interpreter.input(i)->data.raw, data.data(), data.size());
  }
  if (interpreter.Invoke() != kTfLiteOk) return false;
  for (size_t i = 0; i < interpreter.outputs_size(); i++) {
    std::ofstream file(prefix + "." + std::to_string(i), std::ios::binary);
    file.write(interpreter.output(i)->data.raw, interpreter.output(i)->bytes);
  }
  return true;
}

int main() {
  Resolver resolver;
  add_all(resolver);
  std::vector<uint8_t> arena(64 << 20);
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << (run(resolver, line, arena) ? "ok" : "refused") << std::endl;
  }
}
