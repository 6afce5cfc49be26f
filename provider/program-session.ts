// The session of functions such as getRole: they run in the program's own process, which the engine's provider does not
// share. Configured like it: the stack's `irm:*` first, then the environment.
import * as pulumi from "@pulumi/pulumi";
import type { Session } from "./session.ts";

// By configuration: the Automation API runs several stacks in one process, and a token is exchanged once for each.
const sessions = new Map<string, Promise<Session>>();

export const programSession = (): Promise<Session> => {
  const config = new pulumi.Config("irm");
  const get = (key: string) => config.get(key.replace(/^irm:/, ""));
  const key = JSON.stringify(["baseUrl", "authUrl", "identity"].map(get));
  const session = sessions.get(key) ?? connect(get);
  sessions.set(key, session);
  return session;
};

// Loaded when the first function is called: most programs call none.
const connect = async (get: (key: string) => string | undefined): Promise<Session> => {
  const { checkedConfig, sessionWith, systemOutside } = await import("./session.ts");
  const outside = systemOutside();
  const given = { keys: Object.keys(pulumi.runtime.allConfig()), project: pulumi.getProject() };
  return sessionWith(checkedConfig(get, outside.env, given), outside);
};
