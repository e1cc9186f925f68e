import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { makeSampleWorkspace, type Stage } from '../e2e/stage.ts';

const minuteMs = 60_000;

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

const areas: Readonly<Record<string, readonly string[]>> = {
  accounts: words('addresses customers logins newsletter permissions profiles roles sessions'),
  basket: words('basket gifts items quantities reservations totals vouchers wishlist'),
  catalogue: words('brands categories images offers prices products ratings variants'),
  checkout: words('cards confirmation currencies invoices orders payments receipts taxes'),
  delivery: words('carriers countries labels parcels pickup routes tracking weights'),
  returns: words('complaints exchanges inspection reasons refunds requests restock warranty'),
  search: words('facets filters index pagination queries ranking suggestions synonyms'),
  stock: words('bundles forecast inventory locations shelves suppliers transfers warehouses'),
};

const verbs = words('add cancel check count find list merge move read reserve update');
const nouns = words(`
  amount article batch brand buyer card carrier category city colour country coupon currency customer date
  delivery discount invoice item label limit order page parcel payment point price product quantity rate reason receipt
  refund region result route seller shelf size state stock street supplier tax total unit user variant voucher weight`);

/**
 * Adds an invented shop to the sample workspace, so that the question has the numbers of a real
 * project.
 */
export async function makeLargerShop(scratch: string): Promise<string> {
  const shop = await makeSampleWorkspace(path.join(scratch, 'shop'));
  const random = seededNumbers(7);
  for (const [area, parts] of Object.entries(areas)) {
    for (const folder of [area, `${area}/tests`]) {
      const target = path.join(shop, 'modules', folder);
      await mkdir(target, { recursive: true });
      for (const part of parts)
        await writeFile(path.join(target, `${part}.js`), inventedModule(part, random));
    }
  }
  return shop;
}

/** Always returns the same numbers below 1. */
function seededNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/**
 * The functions have different words and numbers: the same one again and again would pack much
 * smaller than source does.
 */
function inventedModule(part: string, random: () => number): string {
  const one = (some: readonly string[]): string => some[Math.floor(random() * some.length)] ?? '';
  const capital = (word: string): string => `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
  const functions = Array.from({ length: 6 + Math.floor(random() * 20) }, (_, index) => {
    const [from, by, into] = [one(nouns), one(nouns), one(nouns)];
    const lines = Array.from({ length: 2 + Math.floor(random() * 6) }, () => {
      const [left, right] = [one(nouns), one(nouns)];
      return `  const ${left}${capital(right)} = ${from}.${one(verbs)}${capital(one(nouns))}(${by}.${right}, ${String(Math.floor(random() * 10_000))});`;
    });
    const name = `${one(verbs)}${capital(into)}${capital(part)}${String(index + 1)}`;
    return `/** Invented for the pictures: ${one(verbs)} the ${from} of a ${by} by ${into}. */\nexport function ${name}(${from}, ${by}) {\n${lines.join('\n')}\n  return ${from}.filter((${into}) => ${into}.${one(nouns)} !== ${by}.${one(nouns)});\n}\n`;
  });
  return functions.join('\n');
}

/** Excludes the finding of the sample whose quoted code its file doesn’t contain. */
export async function findingsForPictures(): Promise<string> {
  const file = path.resolve(import.meta.dirname, '../../examples/sample/english/second.json');
  const findings = JSON.parse(await readFile(file, 'utf8')) as readonly { readonly id: string }[];
  return JSON.stringify(findings.filter(({ id }) => id !== 'S-11'));
}

/** Corrects the finding of the pictures in its file, as a user does in the editor. */
export async function fixFinding(shop: string): Promise<void> {
  const file = path.join(shop, 'src/orders.js');
  const text = await readFile(file, 'utf8');
  await writeFile(
    file,
    text.replace(
      "id = ?', [req.params.id])",
      "id = ? AND customer_id = ?', [req.params.id, req.session.customerId])",
    ),
  );
}

export async function commitAll(folder: string): Promise<void> {
  const git = (...args: readonly string[]) => promisify(execFile)('git', ['-C', folder, ...args]);
  await git('symbolic-ref', 'HEAD', 'refs/heads/main');
  await git('add', '--all');
  const author = ['-c', 'user.name=Invented', '-c', 'user.email=invented@shop.example'];
  await git(...author, '-c', 'commit.gpgSign=false', 'commit', '--quiet', '--message', 'Invented shop');
}

/** Sets the times of the stored runs back, as if they had started so long ago, in a new window. */
export async function letTimePass(stage: Stage, minutes: number): Promise<void> {
  await stage.closeWindows();
  const runs = path.join(stage.storage, 'runs');
  for (const id of await readdir(runs)) {
    const file = path.join(runs, id, 'run.json');
    const run = JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>;
    const earlier = setBack(run, minutes * minuteMs) as object;
    const lastAnswerAt = Date.now() - 4 * minuteMs;
    await writeFile(file, JSON.stringify({ ...earlier, lastAnswerAt }));
  }
  await stage.openWindow();
}

/** Sets back `at`, and members whose name ends in `At`. */
function setBack(value: unknown, ms: number): unknown {
  if (Array.isArray(value)) return value.map((each) => setBack(each, ms));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      typeof member === 'number' && /(^at|At)$/.test(key) ? member - ms : setBack(member, ms),
    ]),
  );
}
