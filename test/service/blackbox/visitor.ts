import type { DefaultTreeAdapterTypes as Tree } from 'parse5';
import { ABORT_CODES } from '../invented.ts';
import { RunAborted } from '../runs/workflow.ts';
import type { CrawlInput, Credential, Feature } from './blackboxSchemas.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

interface Page {
  readonly title: string;
  readonly links: readonly string[];
  readonly forms: readonly (Pick<Feature, 'method' | 'parameters'> & {
    readonly name: string;
    readonly action: string;
  })[];
}

/** The part of an input that says where a run may send requests. */
export type Scope = Pick<CrawlInput, 'target_urls' | 'oos_urls'>;

/** Where a run may send requests: to the origins of its targets, without what is out of scope, each with everything below it (section 2.6). */
export function isInScope(url: URL, { target_urls, oos_urls = [] }: Scope): boolean {
  const isBelow = (other: URL) =>
    url.origin === other.origin && (url.pathname + '/').startsWith(other.pathname.replace(/\/?$/, '/'));
  return (
    target_urls.some((target) => new URL(target).origin === url.origin) &&
    !oos_urls.some((excluded) => isBelow(new URL(excluded)))
  );
}

export class Visitor {
  readonly role: string;
  readonly #scope: Scope;
  readonly #signal: AbortSignal;
  readonly #cookies = new Map<string, string>();

  constructor(role: string, scope: Scope, signal: AbortSignal) {
    this.role = role;
    this.#scope = scope;
    this.#signal = signal;
  }

  /** Sends one request without following redirects; throws RunAborted without an answer. */
  async request(
    url: string,
    init: { method?: string; body?: URLSearchParams; headers?: Record<string, string> } = {},
  ): Promise<Answer> {
    if (!isInScope(new URL(url), this.#scope)) throw new Error(`${url} is out of scope`);
    const cookie = [...this.#cookies].map((pair) => pair.join('=')).join('; ');
    const headers = { ...init.headers, ...(cookie !== '' && { cookie }) };
    const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(10_000)]);
    try {
      const response = await fetch(url, { ...init, headers, signal, redirect: 'manual' });
      for (const set of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
        this.#cookies.set(name, value);
      }
      return { status: response.status, headers: response.headers, body: await response.text() };
    } catch (error) {
      this.#signal.throwIfAborted();
      throw new RunAborted(ABORT_CODES.targetUnreachable, { url, message: String(error) });
    }
  }

  use(
    { method, url, parameters }: Feature,
    values: Readonly<Record<string, string>> = {},
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const all = new URLSearchParams(
      parameters.map(({ name, value }): [string, string] => [name, values[name] ?? value]),
    );
    if (method === 'POST') return this.request(url, { method, body: all, headers });
    return this.request(parameters.length === 0 ? url : `${url}?${all.toString()}`, { headers });
  }

  /** Whether the sign-in form accepts the credential. */
  async signIn(form: Feature, { id, password }: Credential): Promise<boolean> {
    const values = form.parameters.map(({ name, type }) => [name, type === 'password' ? password : id]);
    const { status, headers } = await this.use(form, Object.fromEntries(values) as Record<string, string>);
    return status < 400 && headers.getSetCookie().length > 0;
  }
}

export async function readPage(html: string): Promise<Page> {
  // Loaded on demand, since most services never crawl. Integration tests can import this ES module only dynamically.
  const { parse } = await import('parse5');
  const all = [...elements(parse(html))];
  const named = (tag: string, within = all) => within.filter(({ tagName }) => tagName === tag);
  return {
    title: textOf(named('title')[0]),
    links: named('a').flatMap((link) => attribute(link, 'href') ?? []),
    forms: named('form').map((form) => {
      const inside = [...elements(form)];
      return {
        name: textOf(named('button', inside)[0]),
        action: attribute(form, 'action') ?? '',
        method: attribute(form, 'method')?.toUpperCase() === 'POST' ? 'POST' : 'GET',
        parameters: inside
          .filter(({ tagName }) => ['input', 'textarea', 'select'].includes(tagName))
          .map((field) => ({
            name: attribute(field, 'name') ?? '',
            type: attribute(field, 'type') ?? 'text',
            value: attribute(field, 'value') ?? '',
          })),
      };
    }),
  };
}

function* elements(node: Tree.ParentNode): Generator<Tree.Element> {
  for (const child of node.childNodes) {
    if (!('tagName' in child)) continue;
    yield child;
    yield* elements(child);
  }
}

function attribute({ attrs }: Tree.Element, name: string): string | undefined {
  return attrs.find((each) => each.name === name)?.value;
}

function textOf(element: Tree.Element | undefined): string {
  return (element?.childNodes ?? [])
    .map((node) => ('value' in node ? node.value : ''))
    .join('')
    .trim();
}
