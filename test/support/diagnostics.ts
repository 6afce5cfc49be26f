// What the engine shows of a run's end. Before it, it shows each message while the run goes on.

/** The part of the output after `Diagnostics:`. */
export const diagnosticsOf = (output: string): string => output.split("\nDiagnostics:\n")[1] ?? "";

export const countOf = (text: string, part: string): number => text.split(part).length - 1;
