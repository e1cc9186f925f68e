import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startService } from '../../service/assessmentService.ts';
import type { Corpus } from './folderCases.ts';
import { inPairs } from '../pairs.ts';
import type { Row } from '../rows.ts';
import type { Destination } from '../subjects/startSubject.ts';
import type { Subjects } from '../subjects/subjects.ts';

const run = promisify(execFile);
const tools = ['git', 'tar', 'pigz', 'curl'];
/**
 * The start has a target from this number of files. Below, the cost of starting programs dominates.
 */
const manyFiles = 10_000;

/**
 * Measures from folder to accepted dispatch on loopback, beside the same steps by hand, without
 * question and credential check.
 */
export async function measureStart(
  { name, root }: Corpus,
  subjects: Subjects,
  scratch: string,
  pairs: number,
): Promise<Row[]> {
  let files = 0;
  const missing = tools.filter((tool) => spawnSync(tool, ['--version']).status !== 0);
  // A new service for each start, so that its later work with the archive is not measured.
  const atService = async (start: (at: Destination, folder: string) => Promise<number>): Promise<number> => {
    const folder = mkdtempSync(join(scratch, 'start-'));
    const service = await startService({ runDurationMs: 3_600_000 });
    try {
      const { baseUrl, organizationId, token } = service;
      const ms = await start({ baseUrl, organizationId, token }, folder);
      if (service.runs().length !== 1) throw new Error(`${service.runs().length} runs were started`);
      return ms;
    } finally {
      await service.close();
      rmSync(folder, { recursive: true });
    }
  };
  const ours = (): Promise<number> =>
    atService(async (service, storage) => {
      const outcome = await subjects.run({ kind: 'start', root, service, storage });
      files = outcome.files;
      return outcome.ms[0] ?? NaN;
    });
  const byHand = (): Promise<number> =>
    atService(async (service, folder) => {
      const start = performance.now();
      await startByHand(root, service, folder);
      return performance.now() - start;
    });
  const times = missing.length === 0 ? await inPairs(pairs, ours, byHand) : { ours: await ours() };
  return [
    {
      what: 'the whole start',
      corpus: `${name} (${files})`,
      unit: 'ms',
      ...times,
      peerName: missing.length === 0 ? 'git, tar, pigz, curl' : undefined,
      target: missing.length === 0 && files >= manyFiles ? { atMost: 1.2 } : undefined,
      note: missing.length === 0 ? undefined : `no peer: install ${missing.join(', ')}`,
    },
  ];
}

/**
 * Runs the commands that a user would type. Without a repository, one is created outside the folder
 * first.
 */
async function startByHand(
  root: string,
  { baseUrl, organizationId, token }: Destination,
  folder: string,
): Promise<void> {
  const archive = join(folder, 'archive.tar.gz');
  const git = `git --git-dir="${join(folder, 'git')}" --work-tree="${root}"`;
  const list = `${git} ls-files -co --exclude-standard -z`;
  await run(
    'sh',
    [
      '-c',
      `git init --quiet --bare "${join(folder, 'git')}"; ${list} | tar --null -T - -cf - | pigz -p2 > "${archive}"`,
    ],
    { cwd: root },
  );
  const call = async (operation: string, body: unknown): Promise<Record<string, string>> => {
    const url = `${baseUrl}/o/${organizationId}/${operation}`;
    const headers = ['-H', `Authorization: Bearer ${token}`, '-H', 'Content-Type: application/json'];
    const { stdout } = await run('curl', [
      '--silent',
      '--fail',
      ...headers,
      '--data',
      JSON.stringify(body),
      url,
    ]);
    return JSON.parse(stdout) as Record<string, string>;
  };
  const reserved = await call('input-files/get-upload-url', { content_length: statSync(archive).size });
  const { file_id, upload_url = '' } = reserved;
  await run('curl', ['--silent', '--fail', '--upload-file', archive, upload_url]);
  await call('input-files/confirm-upload', { file_id });
  const target = { file_upload: { file_id, archive_type: 'tar_gz' } };
  await call('workflows/whitebox-assessment/dispatch', { input: { targets: [target], language: 'english' } });
}
