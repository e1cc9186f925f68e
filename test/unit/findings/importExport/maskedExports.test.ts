import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type ExportRequest, exportRun } from '../../../../src/core/findings/importExport/exportRun.ts';
import { LOCATION_ROLES, type ReportedFinding } from '../../../../src/core/findings/finding.ts';
import type { DetailedFinding, DetailedRun } from '../../../../src/core/findings/shownFinding.ts';
import { findingMarkdown } from '../../../../src/core/findings/view/findingMarkdown.ts';
import { writeDetails } from '../../../../src/core/findings/result/resultFile.ts';
import { maskSecrets } from '../../../../src/core/upload/secrets/checkSecrets.ts';
import { tempFolder } from '../../run/tempFolder.ts';
import { shopRun, shownOf, tool, words } from './exportingFindings.ts';

const secretWorkerFile = fileURLToPath(
  new URL('../../../../src/core/upload/secrets/secretWorker.ts', import.meta.url),
);
const steps = LOCATION_ROLES.map((role) => {
  return { path: `src/${role}.js`, startLine: 3, snippet: role, label: role, role };
});
const kinds = ['details', 'impact', 'evidence', 'reproductionSteps', 'recommendation', 'other'] as const;
const reported: ReportedFinding = {
  index: 0,
  id: 'F-1',
  title: 'Invented finding',
  rule: 'invented-rule',
  severity: 'high',
  severityText: 'High!',
  confidence: 'sure',
  summary: 'It is short.',
  description: 'It is invented.',
  blocks: kinds.map((kind) => ({ kind, text: `About ${kind}` })),
  recommendation: 'Invent less.',
  locations: [{ path: 'src/app.js', startLine: 1, snippet: 'eval(x)', label: 'Here' }, ...steps],
  cwes: [],
  cvss: { score: 8, vector: 'CVSS:3.1/AV:N' },
  method: 'GET',
  url: 'https://shop.example/search?q=1',
  feature: 'Search',
  perspective: 'XSS',
};
const facts = {
  reported,
  triage: { state: 'acceptedRisk', note: 'Accepted', at: 1, until: '2031-01-01', via: 'agent' } as const,
  owners: ['@acme/shop'],
  folder: '/home/canary/shop',
  name: 'shop',
  uri: 'https://git.example/acme/shop',
  evidence: { kind: 'quoteNotFound', path: 'src/app.js', missing: 'quote' } as const,
  local: 'src/here.js',
};

/** These members hold one of a few words. */
const closed = /^(?:severity|kind|role|state|via|until|missing)$/;

/** The end of each text has a credential of its own. */
function planted<T>(value: T, tokenOf: (number: number) => string): { value: T; tokens: string[] } {
  const tokens: string[] = [];
  const plant = (part: unknown, key: string): unknown => {
    if (typeof part === 'string') {
      if (closed.test(key)) return part;
      const token = tokenOf(tokens.length);
      tokens.push(token);
      return key === 'url' ? `${part}&t=${token}` : `${part} ${token}`;
    }
    if (Array.isArray(part)) return part.map((each: unknown) => plant(each, key));
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([name, each]) => [name, plant(each, name)]));
  };
  return { value: plant(value, '') as T, tokens };
}

function sourceOf(tokenOf: (number: number) => string) {
  const { value, tokens } = planted(facts, tokenOf);
  const { folder, name, uri, local, owners, evidence } = value;
  const run = { ...shopRun, targets: [{ folder, name }], targetFile: `${folder}/shop.blackbox.json` };
  const [shown] = shownOf([value.reported], () => value.triage, run);
  const here = { file: `${folder}/${local}`, folder, target: 0, path: local, startLine: 2 };
  const locations = shown!.finding.locations.map((location) => {
    return { ...here, reported: location, drift: 'moved' as const };
  });
  // The main location is known by its file here only.
  const uploaded = shown!.finding.locations.map(({ path }, at) => {
    return at === 0 ? undefined : { target: 0, folder, path, bytes: 1, sha256: 'ab' };
  });
  const all: DetailedFinding = { ...shown!, locations, uploaded, owners, evidence: [evidence] };
  const source: DetailedRun = { run, shown: [all], absent: [{ ...all, verdict: 'fileUnchanged' }] };
  const repository = { root: folder, folders: [{ folder, name, path: '' }], uri };
  return { source, listed: [all], repository, tokens };
}

const body = (number: number, length: number): string =>
  `a${String(number).padStart(3, '0')}${'bC4d'.repeat(40)}`.slice(0, length);
/**
 * Escaping hides these kinds: low line and hyphen in Markdown, percent signs in a URI, a full stop
 * behind.
 */
const credentials: Readonly<Record<string, (number: number) => string>> = {
  github: (number) => ['gh', 'p_', body(number, 36)].join(''),
  gitlab: (number) => ['glp', 'at-', body(number, 20)].join(''),
  azure: (number) => ['aB3', '8Q', '~', body(number, 34)].join(''),
};

for (const [kind, tokenOf] of Object.entries(credentials))
  test(`F180 a credential (${kind}) in any text of a finding is in no export, in whatever form`, async (t) => {
    const { source: unmasked, listed, repository, tokens } = sourceOf(tokenOf);
    assert.ok(tokens.length > 40);
    const folder = await tempFolder(t);
    for (const { file, finding, details } of listed)
      await writeDetails(folder, file, [{ ...finding, ...details }]);
    const textOf = async (form: ExportRequest['form']): Promise<string> => {
      const request = { source: unmasked, form, tool, secretWorkerFile };
      return new TextDecoder().decode((await exportRun(request, () => folder)).content);
    };
    const source = await maskSecrets(unmasked, secretWorkerFile);
    const exports = {
      'SARIF, everything': await textOf({ kind: 'sarif' }),
      'SARIF for code scanning': await textOf({ kind: 'codeScanning', listed, repository }),
      CSV: await textOf({ kind: 'csv' }),
      Markdown: source.shown.map((shown) => findingMarkdown(shown, words)).join('\n'),
    };
    for (const [name, text] of Object.entries(exports)) {
      const plain = [text, text.replaceAll('\\', ''), text.replaceAll(/%7E/gi, '~')];
      const secrets = tokens.map((token) => token.slice(6));
      const found = tokens.filter((_, at) => plain.some((each) => each.includes(secrets[at] ?? '')));
      assert.deepEqual(found, [], name);
      assert.match(text, /Invented finding/, name);
    }
    // Masking keeps what refers to what.
    assert.equal(source.shown[0]?.locations[0]?.reported, source.shown[0]?.finding.locations[0]);
    assert.match(exports['SARIF, everything'], /src\/here\.js%20/);
    assert.match(exports['SARIF for code scanning'], /src\/sink\.js%20/);
  });
