export interface IssueTracker {
  readonly kind: 'github' | 'gitlab';
  /** The port of a web URL is included, unless it is 443. */
  readonly host: string;
  readonly repository: string;
}

/** Git reads `git@host:owner/repository` as an SSH address. */
const scpForm = /^(?:[\w.-]+@)?([\w.-]{2,}):(?!\/\/)\/?(.+)$/;

/**
 * The SSH configuration may have host aliases, such as `github.com-work`. No top-level domain has a
 * hyphen, except `xn--…`.
 */
const aliasForm = /^(.+\.[a-z]{2,})[-_](?!-)[\w-]+$/;

/** A remote is untrusted: it comes from the repository. */
function readRemote(remote: string) {
  const [, scpHost, scpPath] = scpForm.exec(remote) ?? [];
  const text = scpHost === undefined ? remote : `ssh://${scpHost}/${scpPath ?? ''}`;
  const [, scheme = '', address = ''] = /^(https?|ssh|git):\/\/(.+)$/i.exec(text) ?? [];
  if (!URL.canParse(`https://${address}`)) return undefined;
  const url = new URL(`https://${address}`);
  const isWeb = scheme.toLowerCase().startsWith('http');
  const hostname = isWeb ? url.hostname : (aliasForm.exec(url.hostname)?.[1] ?? url.hostname);
  const names = url.pathname
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
    .split('/')
    .slice(1);
  const isNamed = names.length > 0 && names.every((name) => /^[\w.~-]+$/.test(name) && !/^\.+$/.test(name));
  // An SSH port says nothing about the web server.
  return isNamed ? { hostname, host: isWeb ? url.host : hostname, names } : undefined;
}

export function readTracker(remote: string): IssueTracker | undefined {
  const { hostname = '', host = '', names = [] } = readRemote(remote) ?? {};
  const kind = (['github', 'gitlab'] as const).find((each) => hostname.startsWith(`${each}.`));
  if (kind === undefined || names.length < 2 || (kind === 'github' && names.length > 2)) return undefined;
  return { kind, host, repository: names.join('/') };
}

export async function findTracker(
  remotes: readonly string[],
  isThere: (hostname: string) => Promise<boolean>,
): Promise<IssueTracker | undefined> {
  for (const tracker of remotes.map(readTracker)) {
    if (tracker === undefined) continue;
    const { hostname } = new URL(`https://${tracker.host}`);
    if (['github.com', 'gitlab.com'].includes(hostname) || (await isThere(hostname))) return tracker;
  }
  return undefined;
}

/** User information and query are dropped. */
export function repositoryUri(remote: string): string | undefined {
  const { host, names } = readRemote(remote) ?? {};
  return host && names && `https://${host}/${names.join('/')}`;
}

export function newIssueAddress({ kind, host, repository }: IssueTracker, title: string): string {
  const address = new URL(`https://${host}/${repository}/${kind === 'gitlab' ? '-/' : ''}issues/new`);
  address.searchParams.set(kind === 'gitlab' ? 'issue[title]' : 'title', title);
  return address.href;
}

export function newAdvisoryAddress({ kind, host, repository }: IssueTracker): string | undefined {
  return kind === 'github' ? `https://${host}/${repository}/security/advisories/new` : undefined;
}
