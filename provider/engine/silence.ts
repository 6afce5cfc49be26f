// The SDK's dynamic provider writes each error that a check, a diff, a read or a delete throws to the console
// (`${error}: ${error.stack}`, cmd/dynamic-provider/index.ts) and answers with it as well, so that the engine prints it a second
// time. This leaves out the first.

export const silencing = (console: Pick<Console, "error">): ((error: Error) => void) => {
  const silenced = new Set<unknown>();
  const { error: print } = console;
  console.error = (...texts) => {
    if (texts.length !== 1 || !silenced.delete(texts[0])) print.apply(console, texts);
  };
  return (error) => silenced.add(`${error}: ${error.stack}`);
};
