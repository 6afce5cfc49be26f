// The SDK's dynamic provider (@pulumi/pulumi/cmd/dynamic-provider/index.ts) writes each error of a check, diff, read or delete
// to the console, as `${error}: ${error.stack}`. It answers with the error as well, so the engine prints it a second time. This
// leaves out the first.

export const silencing = (console: Pick<Console, "error">): ((error: Error) => void) => {
  const silenced = new Set<unknown>();
  const { error: print } = console;
  console.error = (...texts) => {
    if (texts.length !== 1 || !silenced.delete(texts[0])) print.apply(console, texts);
  };
  return (error) => silenced.add(`${error}: ${error.stack}`);
};
