// Folders of tests, which end with them.
import { afterAll, beforeEach } from "vitest";
import { type TemporaryFolder, temporaryFolder } from "./command.ts";

/** A folder for the files of all tests of a file. */
export const testFolder = (): TemporaryFolder => {
  const folder = temporaryFolder();
  afterAll(folder.remove);
  return folder;
};

/** Runs it in this folder. */
export const within = async <T>(folder: string, run: () => Promise<T>): Promise<T> => {
  const before = process.cwd();
  process.chdir(folder);
  return run().finally(() => process.chdir(before));
};

/** Each test of the file runs in an empty folder of its own. */
export const useOwnFolder = (): void => {
  beforeEach(() => {
    const [before, folder] = [process.cwd(), temporaryFolder()];
    process.chdir(folder.path("."));
    return () => {
      process.chdir(before);
      folder.remove();
    };
  });
};
