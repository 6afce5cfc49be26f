// A bar on stderr of a terminal while lists are read; nothing anywhere else.
import { KINDS, type OnRead } from "../access/export/read.ts";
import { countText } from "../access/format/words.ts";

const WIDTH = 20;

/** Shows how many of the lists have been read, and how many records they had. */
export const withProgress = async <T>(read: (onRead: OnRead) => Promise<T>): Promise<T> => {
  const { stderr } = process;
  const show = (text: string): void => void (stderr.isTTY && stderr.write(`\r\u001b[K${text}`));
  let [lists, records] = [0, 0];
  try {
    return await read((_, count) => {
      [lists, records] = [lists + 1, records + count];
      const filled = Math.round((lists / KINDS.length) * WIDTH);
      const bar = `[${"=".repeat(filled)}${" ".repeat(WIDTH - filled)}]`;
      show(`${bar} ${lists} of ${KINDS.length} lists, ${countText(records, "record")}`);
    });
  } finally {
    show("");
  }
};
