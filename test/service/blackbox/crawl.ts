import type { CrawlInput, Feature } from './blackboxSchemas.ts';
import { isInScope, readPage, Visitor, type Scope } from './visitor.ts';

/**
 * Walks through an application as an anonymous visitor and as every role that can sign in, without submitting other forms, and
 * resolves to its features; what is `known` is kept. A page costs one credit; below the targets, a page that is known costs none, so
 * that a crawl that goes on gets further.
 */
export async function crawl(
  input: Scope & Pick<CrawlInput, 'authentication'>,
  {
    limit = Infinity,
    known = [],
    signal,
  }: { limit?: number | undefined; known?: readonly Feature[]; signal: AbortSignal },
): Promise<Feature[]> {
  const own = usable(known, input);
  const features = new Map(own.map((feature) => [keyOf(feature), feature]));
  const waiting: { visitor: Visitor; url: URL; credits: number }[] = [];
  const seen = new Set<string>();
  const wait = (visitor: Visitor, address: string, base?: string) => {
    const url = URL.parse(address, base);
    const seenAs = `${visitor.role} ${url?.origin ?? ''}${url?.pathname ?? ''}`;
    if (!url || seen.has(seenAs) || !isInScope(url, input)) return;
    seen.add(seenAs);
    const feature = features.get(keyOf({ method: 'GET', url: bare(url) }));
    const isKnown = base !== undefined && feature?.roles.includes(visitor.role) === true;
    waiting.push({ visitor, url, credits: isKnown ? 0 : 1 });
  };
  const add = (visitor: Visitor, found: Omit<Feature, 'roles' | 'description'>) => {
    const { roles = [], ...earlier } = features.get(keyOf(found)) ?? {};
    const description = `${found.method} ${new URL(found.url).pathname}`;
    const name = found.name === '' ? description : `${found.name} (${description})`;
    features.set(keyOf(found), {
      ...found,
      name,
      description,
      ...earlier,
      roles: [...new Set([...roles, visitor.role])],
    });
  };
  let hasSignedIn = false;
  const signIn = async () => {
    const form = signInForm([...features.values()]);
    if (!form || hasSignedIn) return;
    hasSignedIn = true;
    for (const visitor of await signedIn(form, input, signal))
      input.target_urls.forEach((url) => wait(visitor, url));
  };

  const anonymous = new Visitor('anonymous', input, signal);
  input.target_urls.forEach((url) => wait(anonymous, url));
  await signIn();
  let spent = 0;
  // Pages are added during the iteration.
  for (const { visitor, url, credits } of waiting) {
    if (spent + credits > limit) break;
    spent += credits;
    const { status, headers, body } = await visitor.request(bare(url) + url.search);
    const page = await readPage(body);
    if (status === 200 || (status < 400 && url.search !== '')) {
      const parameters = [...url.searchParams].map(([name, value]) => ({ name, type: 'query', value }));
      add(visitor, { name: page.title, method: 'GET', url: bare(url), parameters });
    }
    const location = headers.get('location');
    for (const address of location === null ? page.links : [location]) wait(visitor, address, url.href);
    for (const { action, ...form } of page.forms) {
      const to = URL.parse(action, url.href);
      if (to && isInScope(to, input)) add(visitor, { ...form, name: form.name || page.title, url: bare(to) });
    }
    await signIn();
  }
  return [...known.filter((feature) => !own.includes(feature)), ...features.values()];
}

/** A visitor for each valid credential. */
export async function signedIn(
  form: Feature,
  input: Scope & Pick<CrawlInput, 'authentication'>,
  signal: AbortSignal,
): Promise<Visitor[]> {
  const visitors: Visitor[] = [];
  for (const credential of input.authentication?.credentials ?? []) {
    const visitor = new Visitor(credential.role, input, signal);
    if (await visitor.signIn(form, credential)) visitors.push(visitor);
  }
  return visitors;
}

/** Features in scope in this service's own format; tests may store others. */
export function usable(features: readonly Feature[], scope: Scope): Feature[] {
  const isOwn = ({ url, roles, parameters }: Feature) =>
    URL.canParse(url) && Array.isArray(roles) && Array.isArray(parameters);
  return features.filter((feature) => isOwn(feature) && isInScope(new URL(feature.url), scope));
}

export function signInForm(features: readonly Feature[]): Feature | undefined {
  return features.find(({ parameters }) => parameters.some(({ type }) => type === 'password'));
}

function keyOf({ method, url }: Pick<Feature, 'method' | 'url'>): string {
  return `${method} ${url}`;
}

/** Without query, fragment and user information. */
function bare(url: URL): string {
  return url.origin + url.pathname;
}
