/**
 * Messages between the extension host and the report webview. Each side checks incoming messages
 * with these schemas.
 */
import * as z from 'zod/mini';

const text = z.string();
const count = z.int().check(z.nonnegative());

const reportStrings = z.strictObject({
  tableOfContents: text,
  skipContents: text,
  findingsBySeverity: text,
  copy: text,
  copied: text,
  copyFailed: text,
  openInEditor: text,
  done: text,
  notDone: text,
  code: text,
  table: text,
  alerts: z.strictObject({ note: text, tip: text, important: text, warning: text, caution: text }),
});

const severities = ['critical', 'high', 'medium', 'low', 'none', 'unrated'] as const;

export const segmentKinds = [...severities, 'closed', 'unexplained', 'review'] as const;

const trend = z.strictObject({
  notes: z.array(text),
  headings: z.tuple([text, text, text, text, text]),
  legend: text,
  rows: z.array(
    z.strictObject({
      label: text,
      notes: z.array(text),
      /** One for each heading between the first and the last. */
      counts: z.array(text),
      segments: z.array(
        z.strictObject({
          kind: z.enum(segmentKinds),
          label: text,
          count,
        }),
      ),
    }),
  ),
});

const reportContent = z.strictObject({
  parts: z.array(
    z.strictObject({
      /** Absent if the text has headings of its own. */
      heading: z.optional(text),
      /** Untrusted; rendered separately, so that nothing in it affects another part. */
      markdown: text,
    }),
  ),
  title: text,
  facts: z.array(
    z.strictObject({
      label: text,
      value: text,
      /** CWE numbers, shown after the value as links. */
      cwes: z.optional(z.array(count)),
      /** `amber` for a doubt, `grey` for something unknown. */
      tone: z.optional(z.enum(['amber', 'grey'])),
    }),
  ),
  /** Empty for a document about one finding. */
  severities: z.array(
    z.strictObject({
      severity: z.enum(severities),
      label: text,
      count,
    }),
  ),
  noFindings: z.optional(text),
  /** Differences from the baseline, which `label` names; absent without one. */
  changes: z.optional(
    z.strictObject({ label: text, counts: z.array(z.strictObject({ label: text, count })) }),
  ),
  /** Newest run first; absent for a document about one run or finding. */
  trend: z.optional(trend),
  /** `openPlace` returns the `index`; `label` is `path:line` as in the report, and unique. */
  locations: z.array(z.strictObject({ index: count, label: text })),
  /** BCP 47 tag of the report's language. */
  language: text,
});

const showMessage = z.strictObject({
  type: z.literal('show'),
  /** The webview stores it, so that its panel can be restored. */
  documentId: text,
  content: reportContent,
  strings: reportStrings,
});

const problemMessage = z.strictObject({
  type: z.literal('problem'),
  documentId: text,
  /** Localized; says what to do next. */
  text,
  actions: z.array(text),
});

const renderMessage = z.strictObject({ type: z.literal('render') });

const hostMessage = z.discriminatedUnion('type', [showMessage, problemMessage, renderMessage]);

/** A report of 5 MB is about 15 MB of HTML. */
const maxHtmlChars = 100_000_000;

const webviewMessage = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('ready') }),
  z.strictObject({ type: z.literal('openLocation'), index: count }),
  z.strictObject({ type: z.literal('act'), index: count }),
  z.strictObject({
    type: z.literal('rendered'),
    documentId: text,
    /** Untrusted; `toInertHtml` filters it. */
    html: z.string().check(z.maxLength(maxHtmlChars)),
  }),
]);

const webviewState = z.object({
  documentId: text,
  /** The first visible part of the report, and how far it is scrolled. */
  section: z.optional(count),
  offsetPx: z.optional(z.number()),
});

/** A run's report, a finding, or a trend; labels are localized. */
export type ReportContent = z.infer<typeof reportContent>;
export type TrendContent = z.infer<typeof trend>;
export type ReportStrings = z.infer<typeof reportStrings>;
export type ShowMessage = z.infer<typeof showMessage>;
export type ProblemMessage = z.infer<typeof problemMessage>;
export type HostMessage = z.infer<typeof hostMessage>;
/** Webview to host. Names places and actions only by index, never by path or command. */
export type WebviewMessage = z.infer<typeof webviewMessage>;
/** Survives hiding and reloading. */
export type WebviewState = z.infer<typeof webviewState>;

export function readWebviewMessage(value: unknown): WebviewMessage | undefined {
  return webviewMessage.safeParse(value).data;
}

export function readHostMessage(value: unknown): HostMessage | undefined {
  return hostMessage.safeParse(value).data;
}

/** Undefined for an invalid state, as an older version of this extension may have stored. */
export function readWebviewState(value: unknown): WebviewState | undefined {
  return webviewState.safeParse(value).data;
}
