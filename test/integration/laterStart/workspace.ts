import { hash } from 'node:crypto';
import { mkdir, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { storeEndedRun } from '../storedRuns.ts';

/** The folder `many` has `findings` spread over `files` files, and `crowded` more in one file. */
export const many = { files: 1_200, findings: 8_400, crowded: 1_300 } as const;

/** This run of the folder `shop` has the `shopFindings`. */
export const shopRunId = '20260101000000-shop';

/** Returns a command's argument for the finding at an index of the findings file of `shop`. */
export function shopFinding(index: number): object {
  const file = hash('sha256', JSON.stringify({ findings: shopFindings }), 'hex').slice(0, 16);
  return { kind: 'finding', runId: shopRunId, name: `${file}:${String(index)}` };
}

const shopFindings = [
  {
    id: 'WB-1',
    title: 'SQL from a request',
    severity: 'critical',
    cwe: 'CWE-89',
    description: 'The request [reaches](command:workbench.action.quit) the query <i>as it is</i>.',
    recommendation:
      'Use **bound** values: `db.query(sql, [id])`. [Click](command:workbench.action.quit) ![](https://hostile.example.test/x.png) <b>now</b>',
    locations: [
      { file: 'src/orders.js', start_line: 2, end_line: 3, message: 'the query', role: 'source' },
      { file: 'src/server.js', start_line: 1, message: 'the request comes in here' },
      { file: 'src/server.js', start_line: 3, role: 'sink' },
    ],
  },
  { id: 'WB-2', title: 'Weak hash', severity: 'high', cwe: 328, file: 'src/orders.js', line: 4 },
  { id: 'WB-3', title: 'No rate limit', severity: 'medium', file: 'src/server.js', line: 2 },
  { id: 'WB-4', title: 'Version is told', severity: 'low', cwe: 200, file: 'src/server.js', line: 3 },
  {
    title: 'Style [here](command:workbench.action.quit)',
    severity: 'none',
    file: 'src/server.js',
    line: 4,
  },
  { id: 'WB-6', title: 'Some risk', severity: 'plausible', file: 'src/server.js', line: 0 },
  { id: 'WB-7', title: 'Above the folder', severity: 'critical', file: '../outside.js', line: 1 },
  { id: 'WB-8', title: 'Absolute', severity: 'critical', file: '/etc/hostname', line: 1 },
  { id: 'WB-9', title: 'Behind a link', severity: 'critical', file: 'link.js', line: 1 },
  { id: 'WB-10', title: 'Nowhere', severity: 'critical' },
];

/** A repository must not override these settings. Each value differs from the default. */
const hostileSettings = {
  'whitebox.baseUrl': 'https://hostile.example.test',
  'whitebox.organizationId': 'hostile-organization',
  'whitebox.tokenCommand': ['hostile-program'],
  'whitebox.notification.webhookEndpointIds': ['hostile-endpoint'],
  'whitebox.archive.includeNestedRepositories': true,
  'whitebox.archive.maxSizeMB': 1,
  'whitebox.runs.deleteSourceAfterRun': false,
  'whitebox.notifications.level': 'none',
  'whitebox.findings.minimumSeverity': 'critical',
  'whitebox.findings.showInProblems': false,
};

/** Creates a workspace of two folders, `shop` and `many`, each with an ended run in storage. */
export async function prepareLaterStart(scratch: string, storage: string): Promise<string> {
  const root = path.join(scratch, 'two-folders');
  const shop = path.join(root, 'shop');
  const lines = ['one', 'two', 'three', 'four', 'five', ''].join('\n');
  await writeFiles(root, {
    'outside.js': lines,
    'shop/src/orders.js': lines,
    'shop/src/server.js': lines,
    'shop/.vscode/settings.json': JSON.stringify({
      ...hostileSettings,
      'whitebox.archive.format': 'zip',
      'whitebox.archive.exclude': ['fixtures/'],
    }),
    'two.code-workspace': JSON.stringify({
      folders: [{ path: 'shop' }, { path: 'many' }],
      settings: {
        ...hostileSettings,
        'whitebox.archive.exclude': ['*.log'],
        'whitebox.report.language': 'japanese',
      },
    }),
  });
  await symlink(path.join(root, 'outside.js'), path.join(shop, 'link.js'));
  const location = { baseUrl: 'https://assessment.example.test/v1', organizationId: 'invented' };
  const uploaded = { 'src/orders.js': lines, 'src/server.js': lines };
  await storeEndedRun(
    storage,
    { id: shopRunId, folder: shop, ...location },
    { findings: shopFindings },
    uploaded,
  );

  // A killed window has left this part of an archive.
  await writeFiles(storage, { 'saving/0.part': '' });
  await utimes(path.join(storage, 'saving/0.part'), 1, 1);

  // This run's folder is not part of the workspace, so its finding is not shown.
  const elsewhere = path.join(root, 'elsewhere');
  await writeFiles(elsewhere, { 'a.js': lines });
  const run = { id: '20260101000000-elsewhere', folder: elsewhere, ...location };
  await storeEndedRun(storage, run, [{ title: 'Elsewhere', severity: 'high', file: 'a.js', line: 1 }]);

  const folder = path.join(root, 'many');
  const names = Array.from({ length: many.files }, (_, at) => `file${at}.js`);
  const manyLines = 'line\n'.repeat(many.crowded);
  await writeFiles(folder, Object.fromEntries(names.map((name) => [name, manyLines.slice(0, 100)])));
  await writeFiles(folder, { 'crowded.js': manyLines });
  const spread = Array.from({ length: many.findings }, (_, at) => ({
    title: `Finding ${at}`,
    severity: 'medium',
    file: names[at % names.length],
    line: 1 + Math.floor(at / names.length),
  }));
  const crowded = Array.from({ length: many.crowded }, (_, at) => ({
    title: `One of many ${at}`,
    severity: at < 10 ? 'medium' : 'low',
    file: 'crowded.js',
    line: 1 + at,
  }));
  const findings = [...spread, ...crowded];
  await storeEndedRun(storage, { id: '20260101000000-many', folder, ...location }, { findings });
  return path.join(root, 'two.code-workspace');
}

async function writeFiles(root: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(root, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}
