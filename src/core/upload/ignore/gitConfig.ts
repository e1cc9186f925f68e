/** One `name = value` of a git configuration file; `name` is `section.key` or `section.subsection.key`, section and key in lower case. */
export interface ConfigEntry {
  readonly name: string;
  /** Undefined for a name alone, which means true. */
  readonly value: string | undefined;
}

/** Reads the text of a git configuration file; lines it cannot read are passed over. */
export function parseGitConfig(text: string): ConfigEntry[] {
  const entries: ConfigEntry[] = [];
  let section = '';
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  for (let at = 0; at < lines.length; at++) {
    let line = (lines[at] ?? '').trim();
    const header = /^\[\s*([-.0-9A-Za-z]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/.exec(line);
    if (header !== null) {
      const subsection = header[2]?.replace(/\\(.)/g, '$1');
      section = (header[1] ?? '').toLowerCase() + (subsection === undefined ? '' : `.${subsection}`);
      line = line.slice(header[0].length).trim();
    }
    const key = /^([A-Za-z][-0-9A-Za-z]*)\s*(=?)/.exec(line);
    if (key === null) continue;
    const parts = [line.slice(key[0].length)];
    let quoted = false;
    for (;;) {
      const end = endOf(parts.at(-1) ?? '', quoted);
      if (!end.continues || at + 1 >= lines.length) break;
      quoted = end.quoted;
      parts.push(lines[++at] ?? '');
    }
    entries.push({
      name: `${section}.${(key[1] ?? '').toLowerCase()}`,
      value: key[2] === '=' ? readValue(parts.join('\n')) : undefined,
    });
  }
  return entries;
}

/** How a line of a value ends: inside quotes or not, and with an escaped line break, which in a comment is none. */
function endOf(part: string, quotedBefore: boolean): { quoted: boolean; continues: boolean } {
  let quoted = quotedBefore;
  for (let at = 0; at < part.length; at++) {
    const character = part.charAt(at);
    if (character === '\\' && ++at === part.length) return { quoted, continues: true };
    if (character === '"') quoted = !quoted;
    if (!quoted && (character === '#' || character === ';')) break;
  }
  return { quoted, continues: false };
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', b: '\b', '\n': '' };

/** Quotes, escapes, escaped line breaks and comments of a value; blanks around it count only inside quotes. */
function readValue(raw: string): string {
  let value = '';
  let length = 0; // of the value up to what was written last and is not an unquoted blank
  let quoted = false;
  for (let at = 0; at < raw.length; at++) {
    const character = raw.charAt(at);
    if (!quoted && (character === '#' || character === ';')) break;
    const blank = !quoted && /\s/.test(character);
    if (blank && value === '') continue;
    if (character === '"') quoted = !quoted;
    else if (character === '\\') {
      const escaped = raw.charAt(++at);
      value += escapes[escaped] ?? escaped;
    } else value += character;
    if (!blank) length = value.length;
  }
  return value.slice(0, length);
}

/** git's reading of a truth value. */
export function isTrue(value: string | undefined): boolean {
  return (
    value === undefined ||
    /^(?:true|yes|on|\s*[-+]?(?:0x0*[1-9a-f][0-9a-f]*|0*[1-9][0-9]*)[kmg]?)$/i.test(value)
  );
}
