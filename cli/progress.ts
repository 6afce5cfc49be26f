// A bar on stderr of a terminal; nothing anywhere else.
const WIDTH = 20;

export interface Progress {
  /** `done` of the steps are done; `text` says what they found */
  show(done: number, text: string): void;
  clear(): void;
}

export const progressOf = (steps: number): Progress => {
  const { stderr } = process;
  const write = (text: string): void => void (stderr.isTTY && stderr.write(`\r\u001b[K${text}`));
  return {
    show: (done, text) => {
      const filled = Math.round((done / steps) * WIDTH);
      write(`[${"=".repeat(filled)}${" ".repeat(WIDTH - filled)}] ${text}`);
    },
    clear: () => write(""),
  };
};
