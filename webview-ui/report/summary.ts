import type { ReportContent, ReportStrings } from '../../src/core/report/protocol.ts';
import { element } from './element.ts';

/** The head of the page: what was assessed, its facts, and how many findings of each severity there are. */
export function renderSummary(content: ReportContent, strings: ReportStrings): HTMLElement {
  const header = element('header', { class: 'summary' }, element('h1', {}, content.title));
  if (content.facts.length > 0) {
    header.append(
      element(
        'dl',
        { class: 'facts' },
        ...content.facts.map(({ label, value }) =>
          element('div', {}, element('dt', {}, label), element('dd', {}, value)),
        ),
      ),
    );
  }
  if (content.severities.length > 0) header.append(renderSeverities(content, strings));
  return header;
}

function renderSeverities({ severities }: ReportContent, strings: ReportStrings): HTMLElement {
  const most = Math.max(0, ...severities.map(({ count }) => count));
  if (most === 0) return element('p', { class: 'no-findings' }, strings.noFindings);
  return element(
    'table',
    { class: 'severities' },
    element('caption', {}, strings.findingsBySeverity),
    element(
      'tbody',
      {},
      ...severities.map(({ severity, label, count }) => {
        const bar = element('div', { class: 'bar', 'data-severity': severity });
        bar.style.setProperty('--share', String(count / most));
        return element(
          'tr',
          { 'data-empty': String(count === 0) },
          element('th', { scope: 'row' }, label),
          element('td', { class: 'count' }, String(count)),
          element('td', { class: 'track', 'aria-hidden': 'true' }, bar),
        );
      }),
    ),
  );
}
