import type { ServiceFinding } from './analyse.ts';
import { type ReportLanguage, severities } from './rules.ts';

const english = {
  title: 'Whitebox Assessment Report',
  overview: 'Overview',
  scope: (files: number, targets: number) =>
    `The assessment read ${files} ${files === 1 ? 'file' : 'files'} in ${targets} ${targets === 1 ? 'archive' : 'archives'}.`,
  count: (findings: number) =>
    findings === 0
      ? 'It found no weaknesses.'
      : `It found ${findings} ${findings === 1 ? 'weakness' : 'weaknesses'}.`,
  severity: 'Severity',
  number: 'Findings',
  finding: 'Finding',
  place: 'Place',
  findings: 'Findings',
  summary: 'Summary',
  places: 'Places',
  recommendation: 'Recommendation',
  sentenceEnd: ' ',
  levels: { critical: 'Critical', high: 'High', medium: 'Medium', low: 'Low', none: 'None' },
};

const japanese: typeof english = {
  title: 'ホワイトボックス診断レポート',
  overview: '概要',
  scope: (files, targets) => `${targets} 個のアーカイブに含まれる ${files} 個のファイルを診断しました。`,
  count: (findings) =>
    findings === 0 ? '問題は検出されませんでした。' : `${findings} 件の問題を検出しました。`,
  severity: '重大度',
  number: '件数',
  finding: '検出項目',
  place: '場所',
  findings: '検出項目の詳細',
  summary: '一覧',
  places: '該当箇所',
  recommendation: '推奨される対策',
  sentenceEnd: '',
  levels: { critical: '重大', high: '高', medium: '中', low: '低', none: 'なし' },
};

/** The report artifact (section 2.4): Markdown in the language of the dispatch, with places as `path:line` in inline code. */
export function reportText(
  findings: readonly ServiceFinding[],
  { language, fileCount, targetCount }: { language: ReportLanguage; fileCount: number; targetCount: number },
): string {
  const words = language === 'japanese' ? japanese : english;
  const counts = severities.map((level) => {
    const count = findings.filter(({ severity }) => severity === level).length;
    return `| ${words.levels[level]} | ${count} |`;
  });
  const rows = findings.map(({ severity, title, cwe, locations }, index) => {
    const [first] = locations;
    const place = first ? inlineCode(`${first.file_path}:${first.start_line}`).replaceAll('|', '\\|') : '';
    return `| ${index + 1} | ${words.levels[severity]} | ${title} | ${cwe} | ${place} |`;
  });
  const lines = [
    `# ${words.title}`,
    '',
    `## ${words.overview}`,
    '',
    `${words.scope(fileCount, targetCount)}${words.sentenceEnd}${words.count(findings.length)}`,
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
      `| # | ${words.severity} | ${words.finding} | CWE | ${words.place} |`,
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

function section(finding: ServiceFinding, number: number, words: typeof english): string[] {
  const cweNumber = finding.cwe.replace('CWE-', '');
  return [
    `### ${number}. ${finding.title}`,
    '',
    `- ${words.severity}: **${words.levels[finding.severity]}**`,
    `- [${finding.cwe}](https://cwe.mitre.org/data/definitions/${cweNumber}.html)`,
    '',
    finding.description,
    '',
    `#### ${words.places}`,
    '',
    ...finding.locations.flatMap(({ file_path, start_line, snippet }) => {
      const fence = longerThanAny(snippet, 3);
      const language = file_path.endsWith('.py') ? 'python' : (/\w+$/.exec(file_path)?.[0] ?? '');
      return [
        inlineCode(`${file_path}:${start_line}`),
        '',
        `${fence}${language}`,
        ...snippet.split('\n'),
        fence,
        '',
      ];
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

/** A run of backticks that does not occur in the text. */
function longerThanAny(text: string, atLeast: number): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  return '`'.repeat(Math.max(atLeast, longest + 1));
}
