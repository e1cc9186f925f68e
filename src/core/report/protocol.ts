/** Both the extension host and the report webview check incoming messages with these schemas. */
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
      /** There is one for each heading except the first. */
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
      /** Undefined if the text has its own headings. */
      heading: z.optional(text),
      /** The text is untrusted: parts are rendered separately, so that none can affect another. */
      markdown: text,
    }),
  ),
  title: text,
  facts: z.array(
    z.strictObject({
      label: text,
      value: text,
      cwes: z.optional(z.array(count)),
      /** `amber` means a doubt, `grey` something unknown. */
      tone: z.optional(z.enum(['amber', 'grey'])),
    }),
  ),
  severities: z.array(
    z.strictObject({
      severity: z.enum(severities),
      label: text,
      count,
    }),
  ),
  noFindings: z.optional(text),
  changes: z.optional(
    z.strictObject({ label: text, counts: z.array(z.strictObject({ label: text, count })) }),
  ),
  trend: z.optional(trend),
  /** Labels are unique, such as `src/app.ts:12`. Texts may contain them, also as links. */
  locations: z.array(z.strictObject({ index: count, label: text })),
  language: text,
});

const showMessage = z.strictObject({
  type: z.literal('show'),
  /** The webview stores the ID to restore its panel. */
  documentId: text,
  content: reportContent,
  strings: reportStrings,
});

const problemMessage = z.strictObject({
  type: z.literal('problem'),
  documentId: text,
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
    /** The HTML is untrusted; `toInertHtml` filters it. */
    html: z.string().check(z.maxLength(maxHtmlChars)),
  }),
]);

const webviewState = z.object({
  documentId: text,
  /** The index of the first visible section. `offsetPx` of its pixels are above the screen. */
  section: z.optional(count),
  offsetPx: z.optional(z.number()),
});

export type ReportContent = z.infer<typeof reportContent>;
export type TrendContent = z.infer<typeof trend>;
export type ReportStrings = z.infer<typeof reportStrings>;
export type ShowMessage = z.infer<typeof showMessage>;
export type ProblemMessage = z.infer<typeof problemMessage>;
export type HostMessage = z.infer<typeof hostMessage>;
/** The webview names locations and actions only by index, never by path or command. */
export type WebviewMessage = z.infer<typeof webviewMessage>;
export type WebviewState = z.infer<typeof webviewState>;

export function readWebviewMessage(value: unknown): WebviewMessage | undefined {
  return webviewMessage.safeParse(value).data;
}

export function readHostMessage(value: unknown): HostMessage | undefined {
  return hostMessage.safeParse(value).data;
}

/** An older version may have stored a state of another shape. */
export function readWebviewState(value: unknown): WebviewState | undefined {
  return webviewState.safeParse(value).data;
}
