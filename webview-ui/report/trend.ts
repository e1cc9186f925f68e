import { segmentKinds, type TrendContent } from '../../src/core/report/protocol.ts';
import { element } from './element.ts';

type Row = TrendContent['rows'][number];

export function renderTrend({ notes, headings, legend, rows }: TrendContent): HTMLElement[] {
  const total = ({ segments }: Row): number => segments.reduce((sum, { count }) => sum + count, 0);
  const max = Math.max(1, ...rows.map(total));
  const head = element('tr', {}, ...headings.map((heading) => element('th', { scope: 'col' }, heading)));
  const table = element(
    'table',
    {},
    element('thead', {}, head),
    element('tbody', {}, ...rows.map((row) => renderRow(row, max))),
  );
  const kinds = new Map(rows.flatMap(({ segments }) => segments.map(({ kind, label }) => [kind, label])));
  const keys = segmentKinds.flatMap((kind) => {
    const label = kinds.get(kind);
    const sample = element('span', { class: 'segment', 'data-kind': kind });
    return label === undefined ? [] : [element('li', {}, sample, label)];
  });
  return [
    ...notes.map((note) => element('p', {}, note)),
    element('ul', { class: 'legend', 'aria-label': legend }, ...keys),
    element('div', { class: 'table', role: 'region', tabindex: '0', 'aria-label': legend }, table),
  ];
}

function renderRow({ label, notes, counts, segments }: Row, max: number): HTMLElement {
  const bar = element(
    'div',
    { class: 'stack', 'aria-hidden': 'true' },
    ...segments.map(({ kind, label: name, count }) => {
      const attributes = { class: 'segment', 'data-kind': kind, title: `${name}: ${String(count)}` };
      const segment = element('div', attributes);
      segment.style.setProperty('--share', String(count / max));
      return segment;
    }),
  );
  return element(
    'tr',
    {},
    element(
      'th',
      { scope: 'row' },
      label,
      ...notes.map((note) => element('div', { class: 'note' }, note)),
      bar,
    ),
    ...counts.map((count) => element('td', {}, count)),
  );
}
