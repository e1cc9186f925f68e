import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { makeSampleWorkspace, type Stage } from '../e2e/stage.ts';

const minuteMs = 60_000;

/** The sample workspace with invented modules beside it, so that the question has the numbers of a real project. */
export async function makeLargerShop(scratch: string): Promise<string> {
  const shop = await makeSampleWorkspace(path.join(scratch, 'shop'));
  const areas = ['accounts', 'billing', 'catalogue', 'delivery', 'returns', 'search', 'stock'];
  const parts = ['controller', 'events', 'model', 'repository', 'routes', 'schema', 'service', 'validation'];
  for (const area of areas) {
    for (const layer of ['api', 'domain', 'storage', 'tests']) {
      const target = path.join(shop, 'modules', area, layer);
      await mkdir(target, { recursive: true });
      for (const part of parts)
        await writeFile(path.join(target, `${part}.js`), inventedModule(area, layer, part));
    }
  }
  return shop;
}

function inventedModule(area: string, layer: string, part: string): string {
  const functions = Array.from({ length: 12 + ((area.length * part.length) % 40) }, (_, index) => {
    const name = `${part}${String(index + 1)}`;
    return `/** Invented for the pictures: step ${String(index + 1)} of ${area}/${layer}. */\nexport function ${name}(items) {\n  return items.filter((item) => item.area === '${area}' && item.step === ${String(index + 1)});\n}\n`;
  });
  return functions.join('\n');
}

/** Commits everything, as in a folder that people work in. */
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
    const check = { at: lastAnswerAt, ms: 10 * minuteMs, firmMs: 0 };
    await writeFile(file, JSON.stringify({ ...earlier, lastAnswerAt, check }));
  }
  await stage.openWindow();
}

/** The same data with earlier times: `at`, and members whose name ends in `At`. */
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
