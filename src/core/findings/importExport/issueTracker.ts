/** Where issues of a repository are kept. */
export interface IssueTracker {
  readonly kind: 'github' | 'gitlab';
  /** As in its addresses, with a port that is not the usual one. */
  readonly host: string;
  /** Owner and repository, with the groups between them. */
  readonly repository: string;
}

/** `git@host:owner/repository`, as git takes it for ssh. */
const scpForm = /^(?:[\w.-]+@)?([\w.-]{2,}):(?!\/\/)\/?(.+)$/;

/** Where a git remote is, by its address, which comes from the repository: anybody may have written it. */
interface Remote {
  /** Without its port. */
  readonly hostname: string;
  /** With the port of the web server, where the address has it; the port of ssh is another one. */
  readonly host: string;
  readonly names: readonly string[];
}

function readRemote(remote: string): Remote | undefined {
  const [, scpHost, scpPath] = scpForm.exec(remote) ?? [];
  const text = scpHost === undefined ? remote : `ssh://${scpHost}/${scpPath ?? ''}`;
  const [, scheme = '', address = ''] = /^(https?|ssh|git):\/\/(.+)$/i.exec(text) ?? [];
  if (!URL.canParse(`https://${address}`)) return undefined;
  const { hostname, host, pathname } = new URL(`https://${address}`);
  const names = pathname
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
    .split('/')
    .slice(1);
  const isNamed = names.length > 0 && names.every((name) => /^[\w.~-]+$/.test(name) && !/^\.+$/.test(name));
  return isNamed
    ? { hostname, host: scheme.toLowerCase().startsWith('http') ? host : hostname, names }
    : undefined;
}

/** Reads the tracker from the address of a git remote. Undefined for one whose tracker is not known. */
export function readTracker(remote: string): IssueTracker | undefined {
  const { hostname = '', host = '', names = [] } = readRemote(remote) ?? {};
  const kind = (['github', 'gitlab'] as const).find((each) => hostname.startsWith(`${each}.`));
  if (kind === undefined || names.length < 2 || (kind === 'github' && names.length > 2)) return undefined;
  return { kind, host, repository: names.join('/') };
}

/** The address of a repository on the web, from that of its git remote: host and path alone, without user information or query. */
export function repositoryUri(remote: string): string | undefined {
  const found = readRemote(remote);
  return found && `https://${found.host}/${found.names.join('/')}`;
}

/** The page that opens a new issue with this title. */
export function newIssueAddress({ kind, host, repository }: IssueTracker, title: string): string {
  const address = new URL(`https://${host}/${repository}/${kind === 'gitlab' ? '-/' : ''}issues/new`);
  address.searchParams.set(kind === 'gitlab' ? 'issue[title]' : 'title', title);
  return address.href;
}

/** The page that reports a vulnerability in private; undefined where the tracker has none. */
export function newAdvisoryAddress({ kind, host, repository }: IssueTracker): string | undefined {
  return kind === 'github' ? `https://${host}/${repository}/security/advisories/new` : undefined;
}
