// Texts of a change. A uid that the twin assigned has another value on the service. So it becomes an object that names its write, even
// inside a text. A secret is not a text at all. An author cannot write such an object: see value.ts.

/** The uid that a write made; or its last segment, for a text that contains only that. */
export type Made = { $uid: number } | { $segment: number };

/** A secret. It has no digest: a reader of the file could try likely values. */
export const HIDDEN = { $secret: true } as const;

export type Text = string | Made | { $text: (string | Made)[] } | typeof HIDDEN;

const ROOT = 40;
const SEGMENT = 16;
const HEX = /[0-9a-f]{16,}/g;

interface Found {
  begin: number;
  end: number;
  made: Made;
}

/** The uids that a change has made so far. */
export const madeUids = (isSecret: (text: string) => boolean = () => false) => {
  const bySegment = new Map<string, { uid: string; n: number }[]>();

  const foundAt = (text: string, at: number, segment: string): Found[] =>
    (bySegment.get(segment) ?? []).map(({ uid, n }): Found => {
      const [begin, end] = [at + segment.length - uid.length, at + segment.length];
      const isWhole = begin >= 0 && text.startsWith(uid, begin);
      return isWhole ? { begin, end, made: { $uid: n } } : { begin: at, end, made: { $segment: n } };
    });

  const allIn = (text: string): Found[] => {
    const found: Found[] = [];
    for (const { 0: run, index } of text.matchAll(HEX))
      for (const length of [ROOT, SEGMENT])
        for (let at = 0; at + length <= run.length; at += 1)
          found.push(...foundAt(text, index + at, run.slice(at, at + length)));
    // A uid begins with the uids of its ancestors.
    return found.sort((a, b) => a.begin - b.begin || b.end - a.end);
  };

  return {
    add: (uid: string, n: number) => {
      const segment = uid.slice(uid.lastIndexOf("/") + 1);
      bySegment.set(segment, [...(bySegment.get(segment) ?? []), { uid, n }]);
    },
    encodeText: (text: string): Text => {
      if (isSecret(text)) return HIDDEN;
      if (bySegment.size === 0) return text;
      const parts: (string | Made)[] = [];
      let at = 0;
      for (const { begin, end, made } of allIn(text)) {
        if (begin < at) continue;
        if (begin > at) parts.push(text.slice(at, begin));
        parts.push(made);
        at = end;
      }
      if (at === 0) return text;
      if (at < text.length) parts.push(text.slice(at));
      return parts.length === 1 ? (parts[0] as Made) : { $text: parts };
    },
  };
};

/** Whether a text contains one of the secrets. A short one, which may be any word, must be the whole text. */
export const secretIn = (secrets: Iterable<string>): ((text: string) => boolean) => {
  const all = new Set(secrets);
  all.delete("");
  const long = [...all].filter((secret) => secret.length >= INSIDE_MIN);
  return (text) => all.has(text) || long.some((secret) => text.includes(secret));
};

const INSIDE_MIN = 8;
