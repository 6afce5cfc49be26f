// The user of `irm apply --user`: who it may be, and what is read and given as that user.
import { chmodSync, existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { giveFolder, programUser, readAs, removeFolder } from "../../cli/run/user.ts";
import { temporaryFolder } from "../support/command.ts";

const isRoot = process.getuid?.() === 0;

test.runIf(isRoot).each([
  ["root", "may do what this process may"],
  ["no-such-user", "there is no such user on this machine"],
  ["nobody; id", "is not the name of a user"],
])("%s is refused (needs root)", (name, why) => {
  expect(() => programUser(name)).toThrow(`--user ${JSON.stringify(name)}: ${why}`);
});

test.skipIf(isRoot)("anybody but root is refused (needs another user)", () => {
  expect(() => programUser("nobody")).toThrow("only root can run the program as another user");
});

test.runIf(isRoot)("that user reads no more than its own, and its links lead nowhere (needs root)", () => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const user = programUser("nobody");
  const { uid } = user.spawn;
  writeFileSync(folder.path("secret"), "a secret", { mode: 0o600 });
  chmodSync(folder.path("."), 0o755);
  symlinkSync(folder.path("secret"), folder.path("link"));
  expect(String(readAs(undefined, folder.path("link")))).toBe("a secret");
  expect(() => readAs(user, folder.path("link"))).toThrow(`the user nobody cannot read ${folder.path("link")}`);

  const place = folder.path("place");
  mkdirSync(folder.path("place/inner"), { recursive: true, mode: 0o700 });
  mkdirSync(folder.path("kept"));
  symlinkSync(folder.path("kept"), folder.path("place/inner/link"));
  giveFolder(user, place, ["events"]);
  expect([".", "inner", "events"].map((name) => statSync(`${place}/${name}`).uid)).toEqual([0, uid, uid]);
  expect(statSync(place).mode & 0o777).toBe(0o711);
  removeFolder(user, place);
  expect([existsSync(place), existsSync(folder.path("kept"))]).toEqual([false, true]);
});
