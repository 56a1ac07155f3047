import FuzzSupport

runFuzzer(["decoder": DecoderTarget.self])
