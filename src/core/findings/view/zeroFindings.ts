import { coverageOf, excludedIn } from '../../upload/choose/coverage.ts';
import { endedEarly, type Run } from '../../run/state/run.ts';

export interface Wording {
  /** It works like `vscode.l10n.t`. */
  readonly t: (sentence: string, ...values: string[]) => string;
  readonly formatNumber: (value: number) => string;
}

export const inEnglish: Wording = {
  t: (sentence, ...values) => sentence.replace(/\{(\d)\}/g, (_, index) => values[Number(index)] ?? ''),
  formatNumber: (value) => value.toLocaleString('en'),
};

export function zeroFindings(run: Run, { t, formatNumber }: Wording): string {
  const coverage = coverageOf(run);
  const sentences = endedEarly(run) ? [t('The run ended early.')] : [];
  if (coverage === undefined) return [t('0 findings.'), ...sentences].join(' ');
  const { uploaded, excludedFolders, notPackaged, lfsPointers } = coverage;
  const excluded = excludedIn(coverage);
  if (lfsPointers !== undefined)
    sentences.unshift(t('Git LFS pointers without their content: {0}.', formatNumber(lfsPointers)));
  if (notPackaged > 0)
    sentences.unshift(t('Files and folders that couldn’t be packaged: {0}.', formatNumber(notPackaged)));
  if (excludedFolders > 0) sentences.unshift(t('Excluded files and folders: {0}.', formatNumber(excluded)));
  else if (excluded === 1) sentences.unshift(t('1 file was excluded.'));
  else if (excluded > 0) sentences.unshift(t('{0} files were excluded.', formatNumber(excluded)));
  const found =
    uploaded === 1
      ? t('0 findings in 1 uploaded file.')
      : t('0 findings in {0} uploaded files.', formatNumber(uploaded));
  return [found, ...sentences].join(' ');
}

export function isInPart(run: Run): boolean {
  return endedEarly(run) || (coverageOf(run)?.notPackaged ?? 0) > 0;
}
