import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';

/** An invented shop on loopback with planted weaknesses. */
export interface InventedApplication {
  /** Without a slash at its end. */
  readonly origin: string;
  /** Accounts that can sign in, as a dispatch takes them (section 2.6). */
  readonly credentials: readonly { id: string; password: string; role: string }[];
  /** Every request since the start, as `GET /path?query`. */
  readonly requests: readonly string[];
  readonly close: () => Promise<void>;
}

interface Answer {
  readonly status?: number;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string;
}

interface Call {
  readonly query: URLSearchParams;
  readonly form: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly role: string | undefined;
}

const credentials = [
  { id: 'alice@shop.example', password: 'invented-password-1', role: 'buyer' },
  { id: 'root@shop.example', password: 'invented-password-2', role: 'admin' },
];

function page(title: string, body: string, headers: OutgoingHttpHeaders = {}): Answer {
  const html = `<!doctype html><title>${title}</title><h1>${title}</h1>${body}`;
  return { body: html, headers: { 'content-type': 'text/html; charset=utf-8', ...headers } };
}

const moved = (location: string, headers: OutgoingHttpHeaders = {}): Answer => ({
  status: 303,
  headers: { location, ...headers },
});
const deny = { 'x-frame-options': 'DENY' };
const escape = (value: string) =>
  value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

/** The pages by method and path, each weakness with its comment. */
function shop(sessions: Map<string, string>): Readonly<Record<string, (call: Call) => Answer>> {
  const signedIn = (show: (role: string) => Answer) => (call: Call) =>
    call.role === undefined ? moved('/login') : show(call.role);
  return {
    'GET /': ({ role }) =>
      page(
        'Invented Shop',
        `<a href="/catalogue">Catalogue</a> <a href="/search?q=lamp">Search</a> <a href="/contact">お問い合わせ</a>
        <a href="/go?to=/catalogue">Offers</a> <a href="https://elsewhere.example/">Elsewhere</a>
        ${role === undefined ? '<a href="/login">Sign in</a>' : '<a href="/account">Account</a> <a href="/orders">Orders</a> <a href="/logout">Sign out</a>'}`,
      ),
    'GET /catalogue': () =>
      page(
        'Catalogue',
        '<a href="/product?id=1">Lamp</a> <a href="/product?id=2">Chair</a> <a href="/prices">Prices</a>',
      ),
    // SQL injection: a quote in the parameter reaches an invented statement.
    'GET /product': ({ query }) =>
      query.get('id')?.includes("'")
        ? { status: 500, body: "SQL error: unrecognized token in SELECT * FROM products WHERE id = '" }
        : page('Product', `Product ${escape(query.get('id') ?? '')}`),
    // Cross-site scripting: the parameter comes back as HTML.
    'GET /search': ({ query }) =>
      page(
        'Search',
        `<form action="/search"><input name="q"><button>Search</button></form>No match for ${query.get('q') ?? ''}`,
      ),
    // CORS: any origin may read the answer with the person's cookies.
    'GET /prices': ({ headers: { origin = '*' } }) => ({
      body: '[{"id":1,"price":90}]',
      headers: {
        'content-type': 'application/json',
        'access-control-allow-origin': origin,
        'access-control-allow-credentials': 'true',
      },
    }),
    // Open redirect: leads wherever the parameter says.
    'GET /go': ({ query }) => moved(query.get('to') ?? '/'),
    'GET /contact': () =>
      page(
        'お問い合わせ',
        '<form method="post" action="/contact"><input type="hidden" name="csrf_token" value="invented"><textarea name="message"></textarea><button>送信</button></form>',
      ),
    'POST /contact': ({ form }) =>
      form.get('csrf_token') === 'invented'
        ? page('Thanks', escape(form.get('message') ?? ''))
        : { status: 403 },
    'GET /login': () =>
      page(
        'Sign in',
        '<form method="post" action="/login"><input name="id"><input type="password" name="password"><button>Sign in</button></form>',
      ),
    // Authentication: passwords can be guessed without an end.
    'POST /login': ({ form }) => {
      const account = credentials.find(
        ({ id, password }) => id === form.get('id') && password === form.get('password'),
      );
      if (!account) return { ...page('Sign in', 'Wrong ID or password.'), status: 401 };
      const session = randomUUID();
      sessions.set(session, account.role);
      return moved('/', { 'set-cookie': `session=${session}; HttpOnly; Path=/` });
    },
    'GET /logout': () => moved('/', { 'set-cookie': 'session=; Path=/' }),
    // Clickjacking: may be framed, unlike the other pages behind the sign-in.
    'GET /account': signedIn((role) =>
      page(
        'Account',
        `<form method="post" action="/account/address"><input name="address"><button>Change address</button></form>
        ${role === 'admin' ? '<a href="/admin">Administration</a>' : ''}`,
      ),
    ),
    // CSRF: no token.
    'POST /account/address': signedIn(() => moved('/account')),
    'GET /orders': signedIn((role) => page('Orders', `No orders of a ${role}.`, deny)),
    // Authorization: whoever knows the address comes in.
    'GET /admin': () => page('Administration', 'All customers: alice@shop.example', deny),
  };
}

/** Starts the invented application; port 0, the default, is a free one. */
export async function startInventedApplication({ port = 0 } = {}): Promise<InventedApplication> {
  const sessions = new Map<string, string>();
  const pages = shop(sessions);
  const requests: string[] = [];
  const answer = async (request: IncomingMessage): Promise<Answer> => {
    const { method = '', headers } = request;
    const { pathname, searchParams: query, search } = new URL(request.url ?? '/', 'http://127.0.0.1');
    requests.push(`${method} ${pathname}${search}`);
    const form = new URLSearchParams(await readText(request));
    const session = /\bsession=([^;]+)/.exec(headers.cookie ?? '')?.[1] ?? '';
    return (
      pages[`${method} ${pathname}`]?.({ query, form, headers, role: sessions.get(session) }) ?? {
        status: 404,
      }
    );
  };
  const server = createServer((request, response) => {
    answer(request).then(
      ({ status = 200, headers = {}, body = '' }) => response.writeHead(status, headers).end(body),
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    credentials,
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
