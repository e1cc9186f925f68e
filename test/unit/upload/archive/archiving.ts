import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { AssessmentError, type ErrorKind } from '../../../../src/core/errors.ts';
import type { ArchiveFormat } from '../../../../src/core/upload/archive/packing.ts';
import {
  type Archive,
  type ArchiveOptions,
  writeArchive,
} from '../../../../src/core/upload/archive/writeArchive.ts';
import { selectFiles } from '../../../../src/core/upload/select/selectFiles.ts';
import { type ReadEntry, readTar, readZip } from './readArchive.ts';
import { options, type TestTree, plant, testTree } from '../trees.ts';
import { withOddNames } from '../../core/systemSkips.ts';

export const workerFile = new URL('../../../../src/core/upload/archive/archiveWorker.ts', import.meta.url);

export const formats: readonly ArchiveFormat[] = ['tar_gz', 'zip'];

export interface ArchiveTarget extends TestTree {
  readonly to: string;
}

export function tree(t: TestContext): ArchiveTarget {
  const made = testTree(t);
  return { ...made, to: join(made.home, 'archive') };
}

export async function pack(
  at: ArchiveTarget,
  format: ArchiveFormat,
  more: Partial<ArchiveOptions> = {},
): Promise<Archive> {
  const { root, files } = await selectFiles(at.root, options(at));
  return writeArchive({ root, files, format, to: at.to, maxBytes: 1e12, workerFile, ...more });
}

/** Another library reads the entries. */
export async function read(format: ArchiveFormat, file: string): Promise<ReadEntry[]> {
  return format === 'zip' ? readZip(file) : readTar(file);
}

export async function fails(promise: Promise<unknown>, kind: ErrorKind): Promise<AssessmentError> {
  let met: unknown;
  await assert.rejects(promise, (error) => {
    met = error;
    return error instanceof AssessmentError && error.kind === kind;
  });
  return met as AssessmentError;
}

export function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Plants difficult names, sizes and contents, and returns how many. */
export function plantDifficult(root: string): number {
  const long = 'n'.repeat(200);
  const files = {
    'caf\u00e9': 'composed',
    'cafe\u0301': 'decomposed',
    ...(withOddNames.skip === false
      ? { 'a:b': 'colon', 'a\\b': 'backslash', 'two\nlines': 'newline', ' space ': '' }
      : {}),
    '-rf': 'dash',
    '日本/語😀.txt': 'こんにちは',
    [`${long}/${long}/x`]: 'long path',
    [`${'d'.repeat(90)}/${'e'.repeat(60)}/${'f'.repeat(99)}`]: 'prefix and name',
    [long.slice(0, 100)]: 'exactly 100',
    'bin/run': '#!/bin/sh\n',
    empty: '',
    random: randomBytes(300_000),
    text: 'the same line again\n'.repeat(20_000),
    'large.bin': Buffer.concat([
      Buffer.alloc(3 << 20, 'abc'),
      randomBytes(1 << 20),
      Buffer.alloc(123_457, 'z'),
    ]),
  };
  plant(root, files);
  chmodSync(join(root, 'bin/run'), 0o755);
  return Object.keys(files).length;
}
