// `node plugin-process.ts ENGINE_ADDRESS`: the native plugin, which may pause until a line comes on stdin, or its engine dies.
import { runPlugin } from "../../../plugin/run.ts";
import { environmentWith, OPTIONS, type PluginMessage, type PluginOptions, pausePoints } from "./environment.ts";

const { pause, ...options } = JSON.parse(process.env[OPTIONS] ?? "{}") as PluginOptions;
delete process.env[OPTIONS];

const points = pausePoints(pause, (paused) => {
  const message: PluginMessage = { paused };
  process.stdout.write(`${JSON.stringify(message)}\n`);
});
process.stdin.on("data", points.resume).on("end", points.resume);

runPlugin(environmentWith({ ...options, atPoint: points.atPoint, log: () => undefined }), () => "{}");
