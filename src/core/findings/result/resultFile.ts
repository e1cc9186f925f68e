import { createHash, hash } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import * as z from 'zod/mini';
import { systemCode } from '../../errors.ts';
import { writeFileAtomic } from '../../files.ts';
import { reportKey } from '../identity.ts';
import type { SentSpot } from '../place/sentFiles.ts';
import { headSchema, type ResultFinding, type ResultHead, type RunResult } from './result.ts';

/*
 * `result.json` lies in the folder of a run. Its lines are JSON: the head, which shows whether the result is current, and has the SHA-256 of what follows in
 * place of a schema; the tables of texts and sent files that findings refer to by position; then lists of findings, those that are not reported last.
 */

export const resultName = 'result.json';

const savedHeadSchema = z.extend(headSchema, { sha256: z.string() });

const findingsPerLine = 500;
const lineEnd = 10;
/** Hundreds of heads may be read, and few are longer. */
const usualHeadBytes = 16 * 1024;
const maxBytes = 64 * 1024 * 1024;

interface Tables {
  readonly texts: readonly string[];
  readonly sent: readonly SentSpot[];
}

/** A finding as it is written: positions in the tables in place of what many findings share, and without what follows from other members. */
type Line = Omit<ResultFinding, 'run' | 'home' | 'folder' | 'path' | 'sent' | 'file' | 'name'> & {
  readonly at: readonly (number | null)[];
  readonly spots: readonly (number | null)[];
  readonly name?: string | undefined;
};

export async function writeResult(runFolder: string, { head, findings, absent }: RunResult): Promise<void> {
  const [texts, spots] = [new Map<string, number>(), new Map<string, number>()];
  const sent: SentSpot[] = [];
  const textAt = (text: string | undefined): number | null => {
    if (text === undefined) return null;
    const at = texts.get(text) ?? texts.size;
    texts.set(text, at);
    return at;
  };
  const spotAt = (spot: SentSpot | undefined): number | null => {
    if (spot === undefined) return null;
    const key = `${String(spot.target)} ${spot.folder} ${spot.file.sha256} ${spot.file.path}`;
    const at = spots.get(key) ?? spots.size;
    if (at === spots.size) sent.push(spot);
    spots.set(key, at);
    return at;
  };
  const toLine = (found: ResultFinding): Line => {
    const { run, home, folder, path, sent: ofPlaces, file, name, finding, ...others } = found;
    const isUnnamed = name === reportKey(found);
    return {
      ...others,
      ...(!isUnnamed && { name }),
      at: [textAt(run), textAt(home), textAt(folder), textAt(path), textAt(file)],
      spots: ofPlaces.map(spotAt),
      finding,
    };
  };
  const lines: string[] = [];
  const all = [...findings, ...absent];
  for (let at = 0; at < all.length; at += findingsPerLine)
    lines.push(`${JSON.stringify(all.slice(at, at + findingsPerLine).map(toLine))}\n`);
  const tables: Tables = { texts: [...texts.keys()], sent };
  lines.unshift(`${JSON.stringify(tables)}\n`);
  const digest = createHash('sha256');
  for (const line of lines) digest.update(line);
  const saved: z.infer<typeof savedHeadSchema> = { ...head, sha256: digest.digest('hex') };
  await writeFileAtomic(join(runFolder, resultName), [`${JSON.stringify(saved)}\n`, ...lines]);
}

/** Undefined where there is none of this format. The rest of the file may be damaged. */
export async function readHead(runFolder: string): Promise<ResultHead | undefined> {
  return unlessUnreadable(async () => {
    const file = await open(join(runFolder, resultName));
    try {
      for (const size of [usualHeadBytes, maxBytes]) {
        const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(size), 0, size, 0);
        const end = buffer.subarray(0, bytesRead).indexOf(lineEnd);
        if (end >= 0) return headIn(buffer.toString('utf8', 0, end));
        if (bytesRead < size) return undefined;
      }
      return undefined;
    } finally {
      await file.close();
    }
  });
}

/** Undefined where there is none of this format, or a damaged one. Lets others work between two lines. */
export async function readSaved(runFolder: string): Promise<RunResult | undefined> {
  return unlessUnreadable(async () => {
    const content = await readFile(join(runFolder, resultName));
    let start = content.indexOf(lineEnd) + 1;
    const head = headIn(content.toString('utf8', 0, Math.max(0, start - 1)));
    if (head === undefined || hash('sha256', content.subarray(start), 'hex') !== head.sha256)
      return undefined;
    let tables: Tables | undefined;
    const all: ResultFinding[] = [];
    for (let end = content.indexOf(lineEnd, start); end >= 0; end = content.indexOf(lineEnd, start)) {
      await setImmediate();
      const line: unknown = JSON.parse(content.toString('utf8', start, end));
      if (tables === undefined) tables = line as Tables;
      else for (const each of line as readonly Line[]) all.push(toFinding(each, tables));
      start = end + 1;
    }
    const { findings } = head.counts;
    return { head, findings: all.slice(0, findings), absent: all.slice(findings) };
  });
}

function toFinding({ at, spots, name, ...others }: Line, { texts, sent }: Tables): ResultFinding {
  const [run = '', home = '', folder, path = '', file = ''] = at.map((each) =>
    each === null ? undefined : texts[each],
  );
  return {
    ...others,
    // JSON has `null` in place of undefined members of lists.
    evidence: others.evidence?.map((each) => each ?? undefined),
    run,
    home,
    folder,
    path,
    file,
    name: name ?? reportKey({ file, index: others.index }),
    sent: spots.map((each) => (each === null ? undefined : sent[each])),
  };
}

async function unlessUnreadable<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (systemCode(error) === undefined && !(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

function headIn(text: string): z.infer<typeof savedHeadSchema> | undefined {
  return savedHeadSchema.safeParse(JSON.parse(text)).data;
}
