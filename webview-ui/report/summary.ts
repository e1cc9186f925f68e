import type { ReportContent, ReportStrings } from '../../src/core/report/protocol.ts';
import { element } from './element.ts';

export function renderSummary(content: ReportContent, strings: ReportStrings): HTMLElement {
  const { title, facts, severities, noFindings, changes } = content;
  const header = element('header', { class: 'summary' }, element('h1', {}, title));
  const rowsOfFacts = facts.map(({ label, value, cwes = [], tone = 'plain' }) => {
    const description = element('dd', { 'data-tone': tone }, value, ...cwes.map(linkWeakness));
    return element('div', {}, element('dt', {}, label), description);
  });
  if (rowsOfFacts.length > 0) header.append(element('dl', { class: 'facts' }, ...rowsOfFacts));
  const max = Math.max(0, ...severities.map(({ count }) => count));
  if (noFindings !== undefined) header.append(element('p', { class: 'no-findings' }, noFindings));
  const tables: HTMLElement[] = [];
  if (max > 0) {
    const rows = severities.map(({ severity, label, count }) => {
      const bar = element('div', { class: 'bar', 'data-severity': severity });
      bar.style.setProperty('--share', String(count / max));
      return renderRow(label, count, element('td', { class: 'track', 'aria-hidden': 'true' }, bar));
    });
    tables.push(renderTable('severities', strings.findingsBySeverity, rows));
  }
  if (changes) {
    const rows = changes.counts.map(({ label, count }) => renderRow(label, count));
    tables.push(renderTable('changes', changes.label, rows));
  }
  if (tables.length > 0) header.append(element('div', { class: 'figures' }, ...tables));
  return header;
}

/** This is the only link that leaves the page: VS Code opens it in the browser. */
function linkWeakness(cwe: number): HTMLElement {
  const { href, host } = new URL(`https://cwe.mitre.org/data/definitions/${cwe}.html`);
  const link = element('a', { href, title: href }, `CWE-${cwe}`);
  return element('span', { class: 'weakness' }, link, ' ', element('span', { class: 'address' }, host));
}

function renderTable(name: string, caption: string, rows: readonly HTMLElement[]): HTMLElement {
  return element('table', { class: name }, element('caption', {}, caption), element('tbody', {}, ...rows));
}

function renderRow(label: string, count: number, ...more: HTMLElement[]): HTMLElement {
  return element(
    'tr',
    { 'data-empty': String(count === 0) },
    element('th', { scope: 'row' }, label),
    element('td', { class: 'count' }, String(count)),
    ...more,
  );
}
