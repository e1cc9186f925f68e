/** Whether any rule may match a path: cheap to ask, never wrong when it says no. Most paths match none, and asking the engine costs far more. */
export interface RuleHint {
  /** `folder` is `''` or ends in `/`; `name` is the rest of the path, ending in `/` for a folder. */
  mayMatch(folder: string, name: string): boolean;
  /** The hint for these rules and more; `bodies` as written for the engine, without negation, anchor and final slash. */
  and(bodies: readonly string[]): RuleHint;
}

interface State {
  readonly ignoreCase: boolean;
  /** Last names that rules name literally. */
  readonly names: ReadonlySet<string>;
  /** `.ext` of rules like `*.ext`, of which there are often many. */
  readonly extensions: ReadonlySet<string>;
  /** Regular expressions for last names. */
  readonly nameSources: readonly string[];
  /** Pieces of whole paths, for rules whose last name may be any. */
  readonly pathParts: readonly string[];
  /** There is a rule that any path may match. */
  readonly anything: boolean;
}

/** The hint of no rules. */
export function noHint(ignoreCase: boolean): RuleHint {
  return hintOf({
    ignoreCase,
    names: new Set(),
    extensions: new Set(),
    nameSources: [],
    pathParts: [],
    anything: false,
  });
}

function hintOf(state: State): RuleHint {
  const { ignoreCase, names, extensions, nameSources, pathParts, anything } = state;
  let compiled: RegExp | undefined;
  return {
    mayMatch(folder, written) {
      if (anything) return true;
      const subject = ignoreCase ? written.toLowerCase() : written;
      const end = subject.endsWith('/') ? subject.length - 1 : subject.length;
      const name = subject.slice(subject.lastIndexOf('/', end - 1) + 1, end);
      compiled ??= new RegExp(
        nameSources.length === 0 ? '[]' : `^(?:${nameSources.join('|')})$`,
        ignoreCase ? 'i' : '',
      );
      const dot = name.lastIndexOf('.');
      if (names.has(name) || (dot >= 0 && extensions.has(name.slice(dot)))) return true;
      if (compiled.test(name)) return true;
      if (pathParts.length === 0) return false;
      const path = (ignoreCase ? folder.toLowerCase() : folder) + subject;
      return pathParts.some((part) => path.includes(part));
    },
    and(bodies) {
      const next = {
        names: new Set(names),
        extensions: new Set(extensions),
        nameSources: [...nameSources],
        pathParts: [...pathParts],
        anything,
      };
      for (const written of bodies) {
        const body = ignoreCase ? written.toLowerCase() : written;
        const last = body.slice(body.lastIndexOf('/') + 1);
        const pathPart = longestLiteral(body);
        if (!/[\\*?[]/.test(last)) next.names.add(last);
        else if (/^\*\.[^.\\*?[]*$/.test(last)) next.extensions.add(last.slice(1));
        else if (!/^\*+$/.test(last)) next.nameSources.push(nameSource(last));
        else if (pathPart !== '') next.pathParts.push(pathPart);
        else next.anything = true;
      }
      return hintOf({ ignoreCase, ...next });
    },
  };
}

const token = /\\(.)|(\[(?:\\.|[^\]\\])*\])|([*?])|(.)/gs;

/** A regular expression that every name matches which the rule's last part matches; between its first and last star it takes anything, so that it never backtracks far. */
function nameSource(last: string): string {
  const parts = Array.from(last.matchAll(token), ([, escaped, set, wildcard, plain]) => {
    if (wildcard !== undefined) return wildcard === '*' ? '*' : '[^]';
    return set ?? (escaped ?? plain ?? '').replace(/[\\^$.*+?()[\]{}|/]/, '\\$&');
  });
  const first = parts.indexOf('*');
  if (first < 0) return parts.join('');
  return `${parts.slice(0, first).join('')}[^]*${parts.slice(parts.lastIndexOf('*') + 1).join('')}`;
}

/** The longest piece of a rule that stands in every path it matches; a `/` at a piece's start may be the path's own start, where none stands. */
function longestLiteral(body: string): string {
  const pieces = body
    .replace(token, (_match, ...groups: (string | undefined)[]) => groups[3] ?? '*')
    .split(/\*+/)
    .map((piece) => piece.replace(/^\/+/, ''));
  return pieces.reduce((longest, piece) => (piece.length > longest.length ? piece : longest), '');
}
