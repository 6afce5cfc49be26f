// A plugin in this process, for a run that no test interrupts: everything of a plugin but the process.
import { engineLog } from "../../../plugin/log.ts";
import { createPlugin } from "../../../plugin/server.ts";
import type { Environment } from "../../../provider/run/session.ts";
import { startEngineService } from "./engine-service.ts";
import { nativeProvider } from "./native.ts";
import type { Provider } from "./provider.ts";

/** `stack`: organization/project/stack */
export const nativeHere = async (environment: Environment, stack: string): Promise<Provider> => {
  const engine = await startEngineService(environment.log);
  const log = engineLog(() => engine.address);
  const plugin = createPlugin({
    version: "0.0.0",
    schema: () => "{}",
    environment: { ...environment, log: log.info },
    log,
    attached: () => undefined,
  });
  const end = async () => {
    plugin.close();
    engine.close();
  };
  return nativeProvider({ port: await plugin.listen(), end }, stack, engine.address);
};
