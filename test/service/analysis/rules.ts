import type { NapiConfig } from '@ast-grep/napi';
import { javascriptRules } from './javascriptRules.ts';
import { pythonRules } from './pythonRules.ts';

/** The five levels of severity; `none` is a finding without impact on the business. */
export type Severity = 'critical' | 'high' | 'medium' | 'low' | 'none';

/** A weakness that can be recognised in the syntax tree of one file. */
export interface WeaknessRule {
  /** The key of the rule's texts. */
  readonly id: string;
  readonly cwe: string;
  readonly severity: Severity;
  /** Source text without this cannot match: such files are not even parsed. */
  readonly hint: RegExp;
  readonly matcher: NapiConfig;
}

/** A language of the analysis: what ast-grep calls it, how its files end, and its rules. */
export interface AnalysedLanguage {
  readonly grammar: string;
  readonly fence: string;
  readonly extensions: readonly string[];
  readonly rules: readonly WeaknessRule[];
}

/** The languages that the service analyses. */
export const analysedLanguages: readonly AnalysedLanguage[] = [
  { grammar: 'JavaScript', fence: 'js', extensions: ['.js', '.cjs', '.mjs', '.jsx'], rules: javascriptRules },
  { grammar: 'TypeScript', fence: 'ts', extensions: ['.ts', '.cts', '.mts'], rules: javascriptRules },
  { grammar: 'Tsx', fence: 'tsx', extensions: ['.tsx'], rules: javascriptRules },
  { grammar: 'python', fence: 'python', extensions: ['.py'], rules: pythonRules },
];

/** The language of a file by its name; undefined when it is not analysed. */
export function languageOf(path: string): AnalysedLanguage | undefined {
  return analysedLanguages.find(({ extensions }) =>
    extensions.some((extension) => path.toLowerCase().endsWith(extension)),
  );
}
