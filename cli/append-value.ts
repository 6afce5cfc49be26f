// The parser of a flag that may be given several times.

export const appendValue = (text: string, before: string[] = []): string[] => [...before, text];
