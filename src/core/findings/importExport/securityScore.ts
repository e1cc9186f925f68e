import type { Finding, Severity } from '../finding.ts';

/** Where the bands of CVSS 3 and 4 begin and end, and a score that stands for each. */
const bands: Readonly<Record<Exclude<Severity, 'unrated'>, { from: number; below: number; usual: number }>> =
  {
    critical: { from: 9, below: 10.1, usual: 9.5 },
    high: { from: 7, below: 9, usual: 8 },
    medium: { from: 4, below: 7, usual: 5.5 },
    low: { from: 0.1, below: 4, usual: 2 },
    none: { from: 0, below: 0.1, usual: 0 },
  };

/** A score of 0 to 10 that says what the severity says: the finding's own CVSS score where it does; undefined when unrated. */
export function securityScore({ severity, cvss }: Pick<Finding, 'severity' | 'cvss'>): number | undefined {
  if (severity === 'unrated') return undefined;
  const { from, below, usual } = bands[severity];
  const score = cvss?.score;
  return score !== undefined && score >= from && score < below ? score : usual;
}
