// Operations of an engine whose shared log is in a folder of each test, and processes that have ended.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { afterEach, beforeEach, vi } from "vitest";
import { joinOperation, type Operation } from "../../provider/log/operation.ts";
import { testFolder } from "./test-folder.ts";

export const ENGINE = { address: "127.0.0.1:40123", pid: process.pid };

/** In the files of this folder, and with a folder for temporary files for each test. */
export const useOperations = () => {
  const folder = testFolder();
  let count = 0;
  const own = {
    folder,
    /** of this test, for temporary files */
    temporary: "",
    open: [] as Operation[],
    /** This process joins the operation of an engine, until the test ends. */
    join: (engine = ENGINE): Operation => {
      const operation = joinOperation(engine);
      own.open.push(operation);
      return operation;
    },
    closeAll: (): void => {
      for (const operation of own.open.splice(0)) operation.close();
    },
  };
  beforeEach(() => {
    count += 1;
    own.temporary = folder.path(`t${count}`);
    mkdirSync(own.temporary);
    vi.stubEnv("TMPDIR", own.temporary);
  });
  afterEach(() => {
    own.closeAll();
    vi.unstubAllEnvs();
  });
  return own;
};

/** Of a process that has ended. */
export const deadPid = async (): Promise<number> => {
  const child = spawn(process.execPath, ["-e", ""]);
  await once(child, "exit");
  return child.pid as number;
};
