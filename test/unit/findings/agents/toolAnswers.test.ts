import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Marked } from 'marked';
import { findingMarkdown, type FindingWords } from '../../../../src/core/findings/view/findingMarkdown.ts';
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
  toolInputs,
} from '../../../../src/core/findings/agents/toolAnswers.ts';
import type { BranchChange, ComparedBranch } from '../../../../src/core/findings/view/branchChanges.ts';
import { systemClock } from '../../../../src/core/ports.ts';
import type {
  DetailedFinding,
  ShownFinding,
  ShownPlace,
} from '../../../../src/core/findings/shownFinding.ts';
import { runOf } from '../../run/sampleRuns.ts';
import { identityFor, invent } from '../shownFindings.ts';
import { anyItems, shopRun, sourceOf } from '../importExport/exportingFindings.ts';

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
const words: FindingWords = {
  severity: 'Severity',
  place: 'Place',
  feature: 'Feature',
  perspective: 'Perspective',
  otherPlaces: 'Other locations',
  triage: 'Triage',
  owner: 'Owner',
  description: 'Description',
  severityOf: (severity) => severity,
  triageOf: ({ state }) => state,
  standingOf: ({ finding, places, verdict }) => [
    [
      'Since',
      places.find(({ reported, drift }) => reported === finding.places[0] && drift !== 'same')?.drift,
    ],
    ['Compared', verdict && `*${verdict}*`],
  ],
  blockOf: (kind) => kind,
};

interface Listed {
  readonly runs: unknown;
  readonly total: number;
  readonly notRead?: number;
  readonly withoutFile?: number;
  readonly findings: readonly Record<string, unknown>[];
}

async function list(
  runs: ToolFindings['runs'],
  input: Parameters<typeof listFindings>[1] = {},
): Promise<Listed> {
  return (await listFindings({ runs, place: (some) => Promise.resolve(some) }, input)) as Listed;
}

/** A finding of two places, the second gone from the file or moved within it. */
function driftedTo(drift: ShownPlace['drift']): DetailedFinding {
  const [shown] = sourceOf([
    { title: 'Bad', locations: ['a.js', 'b.js'].map((path) => ({ path, line: 7 })) },
  ]).shown;
  const placeOf = (at: number, own: ShownPlace['drift']): ShownPlace => {
    const reported = shown!.finding.places[at]!;
    return {
      file: '/w',
      folder: '/',
      target: 0,
      path: reported.path,
      startLine: 70 + at,
      endLine: 75,
      reported,
      drift: own,
    };
  };
  return { ...shown!, places: [placeOf(1, 'same'), placeOf(0, drift)] };
}

const inJson = (answer: object): object => JSON.parse(JSON.stringify(answer)) as object;
const readFenced = (text: string) =>
  JSON.parse(/^(UNTRUSTED-DATA-\w+)$([^]*)^\1$/m.exec(text)?.[2] ?? '') as Record<string, unknown>;

describe('tool answers', () => {
  test('give no line for code that is gone, and the state of the main place first', async () => {
    const [gone, moved] = [driftedTo('gone'), driftedTo('moved')];
    const { findings } = await list([{ run: shopRun, shown: [gone, moved] }]);
    assert.deepEqual(
      findings.map(({ place, drift }) => [place, drift]),
      [
        ['a.js', 'gone'],
        ['a.js:70', 'moved'],
      ],
    );
    const [there, lost] = (getFinding(gone) as { placesInWorkspace: Record<string, unknown>[] })
      .placesInWorkspace;
    assert.deepEqual(there, { path: 'b.js', startLine: 71, endLine: 75, drift: 'same' });
    assert.deepEqual(lost, { path: 'a.js', drift: 'gone' });
  });

  test('F140 include other runs, earlier decisions, whether the quote was sent, and the end of an acceptance', async () => {
    const until = '2026-06-03';
    const [bad, mild] = sourceOf(items, () => ({ state: 'open', note: '', at: 1, until })).shown;
    const evidence = [{ kind: 'notAsSent', path: 'src/a.js', missing: 'quote' }] as const;
    const decidedBefore = { state: 'falsePositive', note: 'escaped', at: 5 } as const;
    const reported = { ...bad!, verdict: 'backAgain', evidence, decidedBefore } as const;
    const absent = { ...mild!, verdict: 'sameBytes' } as const;
    const said = (each: object) => {
      const { verdict, evidence: quote, decidedBefore: before, ends } = each as Record<string, unknown>;
      return [verdict, quote, before, ends];
    };
    const { findings } = await list([{ run: shopRun, shown: [reported], absent: [absent] }]);
    assert.deepEqual(findings.map(said).toSorted(), [
      ['backAgain', 'notAsSent', 'falsePositive', until],
      ['sameBytes', undefined, undefined, until],
    ]);
    assert.deepEqual(said(inJson(getFinding(reported))), ['backAgain', evidence, decidedBefore, until]);
  });

  test('include feature, perspective and request of a live finding', async () => {
    const live = { feature_name: 'Search', perspective: 'XSS', method: 'GET', url: 'https://shop.example/s' };
    const source = sourceOf([{ title: 'Reflected', severity: 'high', ...live }]);
    const { feature, perspective, request } = (await list([source])).findings[0]!;
    assert.deepEqual([feature, perspective, request], ['Search', 'XSS', 'GET https://shop.example/s']);
    const { reported } = getFinding(source.shown[0]!) as { reported: Record<string, unknown> };
    assert.deepEqual({ ...reported, ...live }, reported);
    assert.match(
      findingMarkdown(source.shown[0]!, words),
      /\*\*Feature:\*\* Search\n.*Perspective:\*\* XSS\n.*URL:\*\* ` GET https:\/\/shop\.example\/s `/,
    );
  });

  test('contain no text that ends its fence, and no invisible characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const [warning = '', mark = '', ...rest] = fenceData(text).split('\n');
        assert.ok(warning.includes(mark) && mark.length > 40);
        assert.equal(rest.at(-1), mark);
        assert.ok(!rest.slice(0, -1).join('\n').includes(mark));
        assert.doesNotMatch(rest.join('\n'), /[\u202A-\u202E\u2066-\u2069\u{E0000}-\u{E007F}\u200B]/u);
      }),
    );
    assert.notEqual(fenceData('x'), fenceData('x'), 'nobody can know the next mark');
  });

  test('list findings worst first, in pages, without settled ones', async () => {
    const source = sourceOf(items, (index) => ({
      state: index === 0 ? 'acceptedRisk' : 'open',
      note: '',
      at: 1,
    }));
    assert.deepEqual(
      (await list([source])).findings.map(({ title, place, drift }) => [title, place, drift]),
      [['Bad', 'src/注文.ts:7', 'unknown']],
    );
    const triage = ['open', 'acceptedRisk'] as const;
    assert.deepEqual(
      (await list([source], { triage: [...triage] })).findings.map(({ title }) => title),
      ['Bad', 'Mild'],
    );
    const { total, findings } = await list([source], { triage: [...triage], offset: 1, limit: 1 });
    assert.deepEqual([total, findings.map(({ title }) => title)], [2, ['Mild']]);
    assert.equal((await list([source], { path: 'a.js' })).total, 0);
  });

  test('F159 list findings that are changed on the branch or could not be compared, or give the reason', async () => {
    const source = sourceOf([...items, { title: 'Same', file: 'src/b.js' }, { title: 'Nowhere' }]);
    const changes = ['unknown', 'changed', 'unchanged', 'noFile'] as const;
    const changeOf = (shown: object): BranchChange => {
      const at = source.shown.findIndex(({ places }) => places === (shown as ShownFinding).places);
      return changes[at] ?? 'unknown';
    };
    const ask = async (state: ComparedBranch): Promise<Listed> => {
      const { listFindings: listed } = readingTools({
        findings: () => ({ runs: [source], place: (some) => Promise.resolve(some) }),
        runs: () => ({ runs: [], unread: 0 }),
        withDetails: ([shown]) => Promise.resolve([{ ...invent(), ...shown }]),
        confirmationsOf: () => Promise.resolve([]),
        branch: { compare: () => Promise.resolve(state) },
        clock: systemClock,
      });
      return readFenced(await listed({ changedOnBranch: true })) as Partial<Listed> as Listed;
    };
    const known = await ask({ kind: 'known', base: 'origin/main', changeOf });
    assert.deepEqual(
      known.findings.map(({ title, changedOnBranch }) => [title, changedOnBranch]),
      [
        ['Bad', true],
        ['Mild', 'unknown'],
      ],
    );
    assert.deepEqual([known.total, known.withoutFile], [2, 1]);
    await assert.rejects(
      ask({ kind: 'unavailable', why: 'noAnswer' }),
      /did not respond in time\. List the findings without it\./,
    );
  });

  test('name each finding of a run, also two that findings files of different times have at one index', async () => {
    const [one] = sourceOf(items).shown;
    const other = { ...one!, ...identityFor('other'), finding: { ...one!.finding, title: 'Other' } };
    const { findings } = await list([{ run: shopRun, shown: [], absent: [one!, other] }]);
    assert.deepEqual(
      findings.map(({ finding }) => findNamed([one!, other], String(finding)).finding.title),
      findings.map(({ title }) => title),
    );
  });

  test('F69 say how many findings were not read', async () => {
    assert.equal((await list([{ ...sourceOf(items), cut: { shown: 2, total: 60_000 } }])).notRead, 59_998);
    assert.equal((await list([sourceOf(items)])).notRead, undefined);
  });

  test('F155 F167 describe the coverage of a run without findings in a sentence', async () => {
    const excluded = { ignored: 1, ignoredButTracked: 1 };
    const coverage = { uploaded: 239, excluded, excludedFolders: 0, unpacked: 0 };
    const run = { ...shopRun, targets: [{ ...shopRun.targets[0]!, coverage }] };
    const failure = { kind: 'malformedFindings' } as const;
    const summary = '0 findings in 239 uploaded files. 2 files were excluded.';
    for (const [shown, ...expected] of [
      [{ run, shown: [] }, undefined, coverage, summary],
      [{ ...sourceOf(items), run }, undefined, coverage, undefined],
      [{ run, shown: [], failure }, failure.kind, coverage, undefined],
    ] as const) {
      const [said] = (await list([shown])).runs as Record<string, unknown>[];
      assert.deepEqual([said?.['failure'], said?.['coverage'], said?.['summary']], expected);
    }
  });

  test('cut long texts and lists, and say where, and how much is missing', () => {
    const files = Array.from({ length: 110 }, (_, at) => `src/${String(at)}.js`);
    const { shown } = sourceOf([{ title: 'x', files, description: 'y'.repeat(60_000) }]);
    const { reported } = readFenced(answerText(getFinding(shown[0]!))) as {
      reported: { locations: readonly unknown[]; description: string };
    };
    assert.deepEqual([reported.locations.length, reported.locations.at(-1)], [101, '… and 10 more']);
    assert.deepEqual([reported.description.length, reported.description.at(-1)], [8_001, '…']);
  });

  test('F141 have at most 75,000 bytes, of any finding, run, and page, and lose no finding of a list', async () => {
    const long = (character: string): string => character.repeat(9_000);
    const items = Array.from({ length: 120 }, (_, at) => ({
      title: `${String(at)} ${long('\u200B')}`,
      severity: 'high',
      file: 'a.js',
      line: 1,
      ...Object.fromEntries(
        ['description', 'impact', 'evidence', 'recommendation'].map((name) => [name, long('注')]),
      ),
      files: Array.from({ length: 200 }, (_, place) => `${String(place)}/${long('d')}.js`),
    }));
    const source = sourceOf(items);
    const sized = (answer: object) => {
      const text = answerText(answer);
      assert.ok(Buffer.byteLength(text) < 76_000, String(Buffer.byteLength(text)));
      return readFenced(text);
    };
    sized(getFinding(source.shown[0]!));
    const { runs } = sized(await list(Array<typeof source>(300).fill(source), { limit: 100 }));
    assert.ok(Array.isArray(runs) && /^… and \d+ more$/.test(String(runs.at(-1))));
    const seen: unknown[] = [];
    for (let offset: unknown = 0; typeof offset === 'number';) {
      const page = sized(await list([source], { offset, limit: 100 }));
      seen.push(...(page['findings'] as readonly { finding: unknown }[]).map(({ finding }) => finding));
      offset = page['nextOffset'];
    }
    assert.equal(new Set(seen).size, items.length);
    assert.equal(seen.length, items.length);
  });

  test('F141 are JSON with invisible characters of any kind', () => {
    const hidden = 'a\u200Bb\uFE0Fc\u{E0041}d\u202Ee\u0000f\u00ADg';
    const answer = readFenced(answerText({ hidden, lines: 'x\n\ty 👩\u200D💻' }));
    assert.deepEqual(answer, {
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
    const { runs } = getRunStatus({ runs: [left], unread: 0 }, 2e12) as { runs: Record<string, unknown>[] };
    assert.equal(runs[0]?.['state'], 'no longer watched');
  });

  test('about runs contain no address, organization or local folder', () => {
    const text = JSON.stringify(getRunStatus({ runs: [shopRun, ...Object.values(runOf)], unread: 0 }, 2e12));
    assert.ok(text.includes('"succeeded"') && text.includes('"imported"'));
    assert.doesNotMatch(text, /canary|service\.example|invented-organization|home/);
  });

  for (const [tool, input] of [
    ['setTriage', { finding: aFinding, state: 'falsePositive' }],
    ['setTriage', { finding: aFinding, state: 'acceptedRisk', note: 'x' }],
    ['setTriage', { finding: aFinding, state: 'fixed' }],
    ['setTriage', { finding: `../${aFinding}`, state: 'open' }],
    ['listFindings', { limit: 1_000 }],
    ['listFindings', { run: 'start' }],
    ['getFinding', {}],
    ['getRunStatus', { cancel: true }],
  ] as const)
    test(`of ${tool} refuse ${JSON.stringify(input)}`, () => {
      assert.equal(toolInputs[tool].safeParse(input).success, false);
    });
});

test('a decision by a tool keeps the user’s reason unless it has its own', () => {
  const former = { state: 'falsePositive', note: 'Reviewed: input is fixed.', at: 5 } as const;
  const decided = (note?: string) => decisionOfTool(former, { finding: aFinding, state: 'open', note }).note;
  assert.deepEqual([undefined, '', ' ', 'mine'].map(decided), [
    former.note,
    former.note,
    former.note,
    'mine',
  ]);
});

describe('a finding as Markdown', () => {
  test('has title, rating, place and prose, each text in its own section', () => {
    const text = findingMarkdown(sourceOf(items).shown[1]!, words);
    assert.match(text, /^## Bad$/m);
    assert.match(text, /\*\*Severity:\*\* critical/);
    assert.match(text, /\*\*Place:\*\* ` src\/注文\.ts:7 `/);
    assert.match(text, /\[CWE-89\]\(https:\/\/cwe\.mitre\.org\/data\/definitions\/89\.html\)/);
    assert.match(text, /````ts\na ``` b\n````/);
    assert.match(
      text,
      /^````markdown\n```\nopen fence\n````\n+### recommendation\n\n```markdown\nFix it\.\n```$/m,
    );
  });

  test('describes the state of the code, without a line if it is gone', () => {
    const [gone, moved] = [
      findingMarkdown(driftedTo('gone'), words),
      findingMarkdown(driftedTo('moved'), words),
    ];
    assert.match(gone, /\*\*Place:\*\* ` a\.js `\n- \*\*Since:\*\* gone\n/);
    assert.match(gone, /^- ` b\.js:71 `$/m);
    assert.match(moved, /\*\*Place:\*\* ` a\.js:70 `\n- \*\*Since:\*\* moved\n/);
    const same = driftedTo('same');
    assert.doesNotMatch(findingMarkdown(same, words), /Since|Compared/);
    // Outside of code an issue would notify these users.
    assert.match(
      findingMarkdown({ ...same, owners: ['@ana', '@b'] }, words),
      /^- \*\*Owner:\*\* ` @ana ` ` @b `$/m,
    );
    assert.match(findingMarkdown({ ...same, verdict: 'new' }, words), /^- \*\*Compared:\*\* \\\*new\\\*$/m);
  });

  test('contains no heading or HTML from finding text', () => {
    fc.assert(
      fc.property(
        anyItems,
        fc.constantFrom('```', '<!--', '<pre>', '# a', '- ~~~', '[x]:\n````'),
        (some, end) => {
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
        },
      ),
    );
  });
});
