/** Where issues of a repository are kept. */
export interface IssueTracker {
  readonly kind: 'github' | 'gitlab';
  /** As in its addresses, with a port that is not the usual one. */
  readonly host: string;
  /** Owner and repository, with the groups between them. */
  readonly repository: string;
}

/** `git@host:owner/repository`, as git takes it for ssh. */
const scpForm = /^(?:[\w.-]+@)?([\w.-]+):(?!\/\/)\/?(.+)$/;

/** Reads the tracker from the address of a git remote, which comes from the repository: anybody may have written it. Undefined for one whose tracker is not known. */
export function readTracker(remote: string): IssueTracker | undefined {
  const [, scpHost, scpPath] = scpForm.exec(remote) ?? [];
  const text = scpHost === undefined ? remote : `ssh://${scpHost}/${scpPath ?? ''}`;
  const [, scheme = '', address = ''] = /^(https?|ssh|git):\/\/(.+)$/i.exec(text) ?? [];
  if (!URL.canParse(`https://${address}`)) return undefined;
  const { hostname, host, pathname } = new URL(`https://${address}`);
  const kind = (['github', 'gitlab'] as const).find((each) => hostname.startsWith(`${each}.`));
  const names = pathname
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
    .split('/')
    .slice(1);
  const isNamed = names.length >= 2 && names.every((name) => /^[\w.-]+$/.test(name) && !/^\.+$/.test(name));
  if (kind === undefined || !isNamed || (kind === 'github' && names.length > 2)) return undefined;
  // The port of ssh is not that of the tracker.
  const isWeb = scheme.toLowerCase().startsWith('http');
  return { kind, host: isWeb ? host : hostname, repository: names.join('/') };
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
