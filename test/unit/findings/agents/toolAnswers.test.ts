import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Marked } from 'marked';
import {
  answerText,
  decisionOfTool,
  fenceData,
  findNamed,
  getFinding,
  getRunStatus,
  listFindings,
  readingTools,
  type ToolFindings,
} from '../../../../src/core/findings/agents/toolAnswers.ts';
import type { DetailedFinding, ShownLocation } from '../../../../src/core/findings/shownFinding.ts';
import type { BranchChange, ComparedBranch } from '../../../../src/core/findings/view/branchChanges.ts';
import { findingMarkdown } from '../../../../src/core/findings/view/findingMarkdown.ts';
import { systemClock } from '../../../../src/core/ports.ts';
import { runOf } from '../../run/sampleRuns.ts';
import { anyItems, shopRun, sourceOf, words } from '../importExport/exportingFindings.ts';
import { identityFor, invent } from '../shownFindings.ts';

const aFinding = 'run-1:0123456789abcdef:1';
const marked = new Marked({ gfm: true });

const items = [
  { title: 'Mild', severity: 'low', file: 'src/a.js', line: 1 },
  {
    title: 'Bad',
    severity: 'critical',
    file: 'src/注文.ts',
    line: 7,
    snippet: 'a ``` b',
    description: '```\nopen fence',
    recommendation: 'Fix it.',
    cwe: 89,
  },
];

type Members = Record<string, unknown>;
interface Listed extends Members {
  readonly runs: readonly unknown[];
  readonly total: number;
  readonly findings: readonly Members[];
}

const inJson = (answer: object) => JSON.parse(JSON.stringify(answer)) as Members;

function readFenced(text: string): Listed {
  const [, , data = ''] = /^(UNTRUSTED-DATA-\w+)$([^]*)^\1$/m.exec(text) ?? [];
  return JSON.parse(data) as Listed;
}

async function list(
  runs: ToolFindings['runs'],
  input: Parameters<typeof listFindings>[1] = {},
): Promise<Listed> {
  return inJson(await listFindings({ runs, locate: (some) => Promise.resolve(some) }, input)) as Listed;
}

async function titles(...given: Parameters<typeof list>): Promise<readonly unknown[]> {
  return (await list(...given)).findings.map(({ title }) => title);
}

/** The main one of two locations is gone from the file, or moved within it. */
function driftedTo(drift: ShownLocation['drift']): DetailedFinding {
  const locations = ['a.js', 'b.js'].map((path) => ({ path, line: 7 }));
  const [shown] = sourceOf([{ title: 'Bad', locations }]).shown;
  const locationOf = (at: number, own: ShownLocation['drift']): ShownLocation => {
    const reported = shown!.finding.locations[at]!;
    const file = { file: '/w', folder: '/', target: 0, path: reported.path };
    return { ...file, startLine: 70 + at, endLine: 75, reported, drift: own };
  };
  return { ...shown!, locations: [locationOf(1, 'same'), locationOf(0, drift)] };
}

describe('tool answers', () => {
  test('give no line for code that is gone, and the state of the main location first', async () => {
    const [gone, moved] = [driftedTo('gone'), driftedTo('moved')];
    const { findings } = await list([{ run: shopRun, shown: [gone, moved] }]);
    const locations = findings.map(({ location, drift }) => `${String(location)} ${String(drift)}`);
    assert.deepEqual(locations, ['a.js gone', 'a.js:70 moved']);
    assert.deepEqual(inJson(getFinding(gone))['locationsInWorkspace'], [
      { path: 'b.js', startLine: 71, endLine: 75, drift: 'same' },
      { path: 'a.js', drift: 'gone' },
    ]);
  });

  test('F140 include other runs, earlier decisions, whether the quote was uploaded, and the end of an acceptance', async () => {
    const until = '2026-06-03';
    const [bad, belowMinimum] = sourceOf(items, () => ({ state: 'open', note: '', at: 1, until })).shown;
    const evidence = [{ kind: 'quoteNotFound', path: 'src/a.js', missing: 'quote' }] as const;
    const decidedBefore = { state: 'falsePositive', note: 'escaped', at: 5 } as const;
    const reported = { ...bad!, verdict: 'foundAgain', evidence, decidedBefore } as const;
    const absent = { ...belowMinimum!, verdict: 'fileUnchanged' } as const;
    const said = (each: Members) => [each['verdict'], each['evidence'], each['decidedBefore'], each['ends']];
    const { findings } = await list([{ run: shopRun, shown: [reported], absent: [absent] }]);
    assert.deepEqual(findings.map(said).toSorted(), [
      ['fileUnchanged', undefined, undefined, until],
      ['foundAgain', 'quoteNotFound', 'falsePositive', until],
    ]);
    assert.deepEqual(said(inJson(getFinding(reported))), ['foundAgain', evidence, decidedBefore, until]);
  });

  test('include feature, perspective and request of a live finding', async () => {
    const live = { feature_name: 'Search', perspective: 'XSS', method: 'GET', url: 'https://shop.example/s' };
    const source = sourceOf([{ title: 'Reflected', severity: 'high', ...live }]);
    const { feature, perspective, request } = (await list([source])).findings[0]!;
    assert.deepEqual([feature, perspective, request], ['Search', 'XSS', 'GET https://shop.example/s']);
    const reported = inJson(getFinding(source.shown[0]!))['reported'] as Members;
    assert.deepEqual({ ...reported, ...live }, reported);
    assert.match(
      findingMarkdown(source.shown[0]!, words),
      /\*\*Feature:\*\* Search\n.*Perspective:\*\* XSS\n.*URL:\*\* ` GET https:\/\/shop\.example\/s `/,
    );
  });

  test('contain no text that ends its fence, and no invisible characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const [warning = '', fence = '', ...rest] = fenceData(text).split('\n');
        assert.ok(warning.includes(fence) && fence.length > 40);
        assert.equal(rest.at(-1), fence);
        assert.ok(!rest.slice(0, -1).join('\n').includes(fence));
        assert.doesNotMatch(rest.join('\n'), /[\u202A-\u202E\u2066-\u2069\u{E0000}-\u{E007F}\u200B]/u);
      }),
    );
    assert.notEqual(fenceData('x'), fenceData('x'), 'nobody can know the next mark');
  });

  test('list findings worst first, in pages, without closed ones', async () => {
    const note = { note: '', at: 1 };
    const source = sourceOf(items, (at) => ({ state: at === 0 ? 'acceptedRisk' : 'open', ...note }));
    const [{ location, drift } = {}] = (await list([source])).findings;
    assert.deepEqual([location, drift], ['src/注文.ts:7', 'unknown']);
    const triage = (['open', 'acceptedRisk'] as const).slice();
    assert.deepEqual(await titles([source]), ['Bad']);
    assert.deepEqual(await titles([source], { triage }), ['Bad', 'Mild']);
    assert.deepEqual(await titles([source], { triage, offset: 1, limit: 1 }), ['Mild']);
    assert.equal((await list([source], { triage, limit: 1 })).total, 2);
    assert.deepEqual(await titles([source], { path: 'a.js' }), []);
  });

  test('F159 list findings that are changed on the branch or could not be compared, or give the reason', async () => {
    const source = sourceOf([...items, { title: 'Same', file: 'src/b.js' }, { title: 'Nowhere' }]);
    const changes: readonly BranchChange[] = ['unknown', 'changed', 'unchanged', 'noFile'];
    const ask = async (state: ComparedBranch): Promise<Listed> => {
      const { listFindings: listed } = readingTools({
        findings: () => ({ runs: [source], locate: (some) => Promise.resolve(some) }),
        runs: () => ({ runs: [], unread: 0 }),
        withDetails: ([shown]) => Promise.resolve([{ ...invent(), ...shown }]),
        confirmationsOf: () => Promise.resolve([]),
        branch: { compare: () => Promise.resolve(state) },
        clock: systemClock,
      });
      return readFenced(await listed({ changedOnBranch: true }));
    };
    const changeOf = ({ locations }: Pick<DetailedFinding, 'locations'>) =>
      changes[source.shown.findIndex((each) => each.locations === locations)] ?? 'unknown';
    const known = await ask({ kind: 'known', base: 'origin/main', changeOf });
    const changed = known.findings.map(({ title, changedOnBranch: is }) => `${String(title)} ${String(is)}`);
    assert.deepEqual(changed, ['Bad true', 'Mild unknown']);
    assert.deepEqual([known.total, known['withoutFile']], [2, 1]);
    const unavailable = ask({ kind: 'unavailable', why: 'noAnswer' });
    await assert.rejects(unavailable, /did not respond in time\. List the findings without it\./);
  });

  test('name each finding of a run, also two that findings files of different times have at one index', async () => {
    const [one] = sourceOf(items).shown;
    const other = { ...one!, ...identityFor('other'), finding: { ...one!.finding, title: 'Other' } };
    const { findings } = await list([{ run: shopRun, shown: [], absent: [one!, other] }]);
    for (const { finding, title } of findings)
      assert.equal(findNamed([one!, other], String(finding)).finding.title, title);
  });

  test('F69 F155 F167 say how many findings were not read, and describe the coverage of a run without findings', async () => {
    const excluded = { ignored: 1, ignoredButTracked: 1 };
    const coverage = { uploaded: 239, excluded, excludedFolders: 0, notPackaged: 0 };
    const run = { ...shopRun, targets: [{ ...shopRun.targets[0]!, coverage }] };
    const failure = { kind: 'malformedFindings' } as const;
    const summary = '0 findings in 239 uploaded files. 2 files were excluded.';
    for (const [shown, ...expected] of [
      [{ run, shown: [] }, undefined, coverage, summary, undefined],
      [{ ...sourceOf(items), run }, undefined, coverage, undefined, undefined],
      [{ run, shown: [], failure }, failure.kind, coverage, undefined, undefined],
      [{ ...sourceOf(items), run, cut: { shown: 2, total: 60_000 } }, undefined, coverage, undefined, 59_998],
    ] as const) {
      const { runs, notRead } = await list([shown]);
      const [said] = runs as readonly Members[];
      assert.deepEqual([said?.['failure'], said?.['coverage'], said?.['summary'], notRead], expected);
    }
  });

  test('cut long texts and lists, and say where, and how much is missing', () => {
    const files = Array.from({ length: 110 }, (_, at) => `src/${String(at)}.js`);
    const { shown } = sourceOf([{ title: 'x', files, description: 'y'.repeat(60_000) }]);
    const { reported } = readFenced(answerText(getFinding(shown[0]!)));
    const { locations, description } = reported as { locations: readonly unknown[]; description: string };
    assert.deepEqual([locations.length, locations.at(-1)], [101, '… and 10 more']);
    assert.deepEqual([description.length, description.at(-1)], [8_001, '…']);
  });

  test('F141 have at most 75,000 bytes, of any finding, run, and page, and lose no finding of a list', async () => {
    const long = (character: string): string => character.repeat(9_000);
    const texts = ['description', 'impact', 'evidence', 'recommendation'].map((name) => [name, long('注')]);
    const items = Array.from({ length: 120 }, (_, at) => ({
      title: `${String(at)} ${long('\u200B')}`,
      severity: 'high',
      ...(Object.fromEntries(texts) as object),
      files: Array.from({ length: 200 }, (_, location) => `${String(location)}/${long('d')}.js`),
    }));
    const source = sourceOf(items);
    const sized = (answer: object): Listed => {
      const text = answerText(answer);
      assert.ok(Buffer.byteLength(text) < 76_000, String(Buffer.byteLength(text)));
      return readFenced(text);
    };
    sized(getFinding(source.shown[0]!));
    const { runs } = sized(await list(Array<typeof source>(300).fill(source), { limit: 100 }));
    assert.match(String(runs.at(-1)), /^… and \d+ more$/);
    const seen: unknown[] = [];
    for (let offset: unknown = 0; typeof offset === 'number';) {
      const { findings, nextOffset } = sized(await list([source], { offset, limit: 100 }));
      seen.push(...findings.map(({ finding }) => finding));
      offset = nextOffset;
    }
    assert.deepEqual([new Set(seen).size, seen.length], [items.length, items.length]);
  });

  test('F141 are JSON with invisible characters of any kind', () => {
    const hidden = 'a\u200Bb\uFE0Fc\u{E0041}d\u202Ee\u0000f\u00ADg';
    assert.deepEqual(readFenced(answerText({ hidden, lines: 'x\n\ty 👩\u200D💻' })), {
      hidden: String.raw`a\u{200B}b\u{FE0F}c\u{E0041}d\u{202E}e\u{0000}f\u{00AD}g`,
      lines: 'x\n\ty 👩\u200D💻',
    });
  });

  test('F141 quote at most 200 characters of a call that is refused', async () => {
    const { getRunStatus: call } = readingTools({ clock: systemClock } as Parameters<typeof readingTools>[0]);
    await assert.rejects(call({ ['x'.repeat(100_000)]: 1 }), ({ message }: Error) => message.length < 300);
  });

  test('do not call an unconfirmed, no longer watched start cancelled', () => {
    const left = { ...runOf.cancelled, mayStillRun: true } as typeof runOf.cancelled;
    const { runs } = getRunStatus({ runs: [left], unread: 0 }, 2e12) as { runs: readonly Members[] };
    assert.equal(runs[0]?.['state'], 'no longer watched');
  });

  test('about runs contain no address, organization or local folder', () => {
    const text = JSON.stringify(getRunStatus({ runs: [shopRun, ...Object.values(runOf)], unread: 0 }, 2e12));
    assert.ok(text.includes('"succeeded"') && text.includes('"imported"'));
    assert.doesNotMatch(text, /canary|service\.example|invented-organization|home/);
  });
});

test('a decision by a tool keeps the user’s reason unless it has its own', () => {
  const former = { state: 'falsePositive', note: 'Reviewed: input is fixed.', at: 5 } as const;
  const decided = (note?: string) => decisionOfTool(former, { finding: aFinding, state: 'open', note }).note;
  assert.deepEqual([undefined, ' ', 'mine'].map(decided), [former.note, former.note, 'mine']);
});

describe('a finding as Markdown', () => {
  test('has title, rating, location and prose, each text in its own section', () => {
    const text = findingMarkdown(sourceOf(items).shown[1]!, words);
    assert.match(text, /^## Bad$/m);
    assert.match(text, /\*\*Severity:\*\* critical/);
    assert.match(text, /\*\*Place:\*\* ` src\/注文\.ts:7 `/);
    assert.match(text, /\[CWE-89\]\(https:\/\/cwe\.mitre\.org\/data\/definitions\/89\.html\)/);
    assert.match(text, /````ts\na ``` b\n````/);
    const prose = /^````markdown\n```\nopen fence\n````\n+### recommendation\n\n```markdown\nFix it\.\n```$/m;
    assert.match(text, prose);
  });

  test('describes the state of the code, without a line if it is gone', () => {
    const textOf = (drift: ShownLocation['drift'], more: Partial<DetailedFinding> = {}): string =>
      findingMarkdown({ ...driftedTo(drift), ...more }, words);
    assert.match(textOf('gone'), /\*\*Place:\*\* ` a\.js `\n- \*\*Since:\*\* gone\n[^]*^- ` b\.js:71 `$/m);
    assert.match(textOf('moved'), /\*\*Place:\*\* ` a\.js:70 `\n- \*\*Since:\*\* moved\n/);
    assert.doesNotMatch(textOf('same'), /Since|Compared/);
    // Outside of code an issue would notify these users.
    assert.match(textOf('same', { owners: ['@ana', '@b'] }), /^- \*\*Owner:\*\* ` @ana ` ` @b `$/m);
    assert.match(textOf('same', { verdict: 'new' }), /^- \*\*Compared:\*\* \\\*new\\\*$/m);
  });

  test('contains no heading or HTML from finding text', () => {
    const ends = fc.constantFrom('```', '<!--', '<pre>', '# a', '- ~~~', '[x]:\n````');
    fc.assert(
      fc.property(anyItems, ends, (some, end) => {
        for (const shown of sourceOf(some).shown) {
          const description = `${shown.details.description}\n${end}`;
          const text = findingMarkdown({ ...shown, details: { ...shown.details, description } }, words);
          const kinds: string[] = [];
          void marked.walkTokens(marked.lexer(text), (token) => {
            kinds.push(token.type === 'heading' ? `heading ${String(token.depth)}` : token.type);
          });
          assert.equal(kinds.filter((kind) => /^heading [12]$/.test(kind)).length, 1);
          assert.ok(!kinds.includes('html'));
          assert.doesNotMatch(text, /\u202E/);
        }
      }),
    );
  });
});
