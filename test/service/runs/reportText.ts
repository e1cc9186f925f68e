/**
 * The five levels of severity begin with the worst. `none` is a finding without impact on the
 * business.
 */
export const severities = ['critical', 'high', 'medium', 'low', 'none'] as const;

export type Severity = (typeof severities)[number];

export type ReportLanguage = 'english' | 'japanese';

export interface RuleText {
  readonly title: string;
  readonly description: string;
  readonly recommendation: string;
}

/** `||` separates title, description, and recommendation. */
export function text([line = '']: readonly string[]): RuleText {
  const [title = '', description = '', recommendation = ''] = line.split(' || ');
  return { title, description, recommendation };
}

/** The report quotes `code` below the location of the finding. */
export interface ReportedFinding extends RuleText {
  readonly severity: Severity;
  readonly cwe: string;
  readonly locations: readonly {
    readonly name: string;
    readonly code: string;
    readonly codeLanguage?: string;
  }[];
}

const english = {
  overview: 'Overview',
  count: (findings: number) =>
    findings === 0
      ? 'It found no weaknesses.'
      : `It found ${findings} ${findings === 1 ? 'weakness' : 'weaknesses'}.`,
  severity: 'Severity',
  number: 'Findings',
  finding: 'Finding',
  location: 'Place',
  findings: 'Findings',
  summary: 'Summary',
  locations: 'Places',
  recommendation: 'Recommendation',
  sentenceEnd: ' ',
  levels: { critical: 'Critical', high: 'High', medium: 'Medium', low: 'Low', none: 'None' },
};

const japanese: typeof english = {
  overview: '概要',
  count: (findings) =>
    findings === 0 ? '問題は検出されませんでした。' : `${findings} 件の問題を検出しました。`,
  severity: '重大度',
  number: '件数',
  finding: '検出項目',
  location: '場所',
  findings: '検出項目の詳細',
  summary: '一覧',
  locations: '該当箇所',
  recommendation: '推奨される対策',
  sentenceEnd: '',
  levels: { critical: '重大', high: '高', medium: '中', low: '低', none: 'なし' },
};

/**
 * The report artifact (section 2.4) is Markdown in the language of the dispatch. `scope` says what
 * was assessed.
 */
export function reportText(
  findings: readonly ReportedFinding[],
  { language, title, scope }: { language: ReportLanguage; title: string; scope: string },
): string {
  const words = language === 'japanese' ? japanese : english;
  const counts = severities.map((level) => {
    const count = findings.filter(({ severity }) => severity === level).length;
    return `| ${words.levels[level]} | ${count} |`;
  });
  const rows = findings.map(({ severity, title, cwe, locations: [first] }, index) => {
    const location = first ? inlineCode(first.name).replaceAll('|', '\\|') : '';
    return `| ${index + 1} | ${words.levels[severity]} | ${title} | ${cwe} | ${location} |`;
  });
  const lines = [
    `# ${title}`,
    '',
    `## ${words.overview}`,
    '',
    `${scope}${words.sentenceEnd}${words.count(findings.length)}`,
    '',
    `| ${words.severity} | ${words.number} |`,
    '| --- | ---: |',
    ...counts,
    '',
  ];
  if (findings.length > 0) {
    lines.push(
      `## ${words.summary}`,
      '',
      `| # | ${words.severity} | ${words.finding} | CWE | ${words.location} |`,
      '| ---: | --- | --- | --- | --- |',
      ...rows,
      '',
      `## ${words.findings}`,
      '',
      ...findings.flatMap((finding, index) => section(finding, index + 1, words)),
    );
  }
  return `${lines.join('\n').trimEnd()}\n`;
}

function section(finding: ReportedFinding, number: number, words: typeof english): string[] {
  const cweNumber = finding.cwe.replace('CWE-', '');
  return [
    `### ${number}. ${finding.title}`,
    '',
    `- ${words.severity}: **${words.levels[finding.severity]}**`,
    `- [${finding.cwe}](https://cwe.mitre.org/data/definitions/${cweNumber}.html)`,
    '',
    finding.description,
    '',
    `#### ${words.locations}`,
    '',
    ...finding.locations.flatMap(({ name, code, codeLanguage = '' }) => {
      const fence = longerThanAny(code, 3);
      return [inlineCode(name), '', `${fence}${codeLanguage}`, ...code.split('\n'), fence, ''];
    }),
    `#### ${words.recommendation}`,
    '',
    finding.recommendation,
    '',
  ];
}

function inlineCode(text: string): string {
  const fence = longerThanAny(text, 1);
  return fence.length > 1 ? `${fence} ${text} ${fence}` : `${fence}${text}${fence}`;
}

/** Returns more backticks than the text has in a row, and at least `atLeast`. */
function longerThanAny(text: string, atLeast: number): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  return '`'.repeat(Math.max(atLeast, longest + 1));
}
