/** Messages between the extension host and the report webview; each side checks what arrives with these schemas. */
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
});

const severities = ['critical', 'high', 'medium', 'low', 'none', 'unrated'] as const;

/** The parts of a trend's bar, in their order. */
export const segmentKinds = [...severities, 'settled', 'unexplained', 'review'] as const;

const trend = z.strictObject({
  /** How to read the table. */
  notes: z.array(text),
  /** Of the columns, in their order. */
  headings: z.tuple([text, text, text, text, text, text]),
  legend: text,
  rows: z.array(
    z.strictObject({
      label: text,
      notes: z.array(text),
      /** Below the headings between the first and the last. */
      counts: z.array(text),
      /** A button below the last count; `index` is one of `places`. */
      review: z.optional(z.strictObject({ index: count, label: text })),
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
      /** Ours; absent where the text has headings of its own. */
      heading: z.optional(text),
      /** Untrusted, and read by itself: nothing in it reaches another part. */
      markdown: text,
    }),
  ),
  title: text,
  facts: z.array(
    z.strictObject({
      label: text,
      value: text,
      /** Weaknesses by number, shown after the value as links to their definitions. */
      cwes: z.optional(z.array(count)),
      /** How it is coloured: a doubt, or something that cannot be known. */
      tone: z.optional(z.enum(['amber', 'grey'])),
    }),
  ),
  /** Empty for a document that is not about many findings; labels are in the user's language. */
  severities: z.array(
    z.strictObject({
      severity: z.enum(severities),
      label: text,
      count,
    }),
  ),
  /** Stands in place of `severities` where there are no findings. */
  noFindings: z.optional(text),
  /** How the findings differ from those of the run before, which `label` names; absent when there is none. */
  changes: z.optional(
    z.strictObject({ label: text, counts: z.array(z.strictObject({ label: text, count })) }),
  ),
  /** The findings of runs, the newest run first; absent for a document about one run or finding. */
  trend: z.optional(trend),
  /** `index` is what `openPlace` hands back; `label` is `path:line` as the report writes it, and means one place only. */
  places: z.array(z.strictObject({ index: count, label: text })),
  /** Language of the report's own text, as a BCP 47 tag. */
  language: text,
});

const showMessage = z.strictObject({
  type: z.literal('show'),
  /** Identity of the document, kept by the webview so that its panel can be restored. */
  documentId: text,
  content: reportContent,
  strings: reportStrings,
});

const problemMessage = z.strictObject({
  type: z.literal('problem'),
  documentId: text,
  /** A sentence in the user's language that says what to do next. */
  text,
  actions: z.array(text),
});

/** Asks for the document that is shown, whole, as HTML to be saved. */
const renderMessage = z.strictObject({ type: z.literal('render') });

const hostMessage = z.discriminatedUnion('type', [showMessage, problemMessage, renderMessage]);

/** A report of 5 MB is about 15 MB of HTML. */
const maxHtmlChars = 100_000_000;

const webviewMessage = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('ready') }),
  z.strictObject({ type: z.literal('openPlace'), index: count }),
  /** A button below a problem was pressed. */
  z.strictObject({ type: z.literal('act'), index: count }),
  z.strictObject({
    type: z.literal('rendered'),
    documentId: text,
    /** Untrusted: `toInertHtml` decides what of it is saved. */
    html: z.string().check(z.maxLength(maxHtmlChars)),
  }),
]);

const webviewState = z.object({
  documentId: text,
  /** The first part of the report that was visible, and how many pixels of it were scrolled past. */
  section: z.optional(count),
  offsetPx: z.optional(z.number()),
});

/** What the view shows of one document, a run's report, a finding or a trend, with every label already in the user's language. */
export type ReportContent = z.infer<typeof reportContent>;
export type TrendContent = z.infer<typeof trend>;
/** The view's own words in the user's language. */
export type ReportStrings = z.infer<typeof reportStrings>;
/** The host asks the webview to show a document. */
export type ShowMessage = z.infer<typeof showMessage>;
/** The host says why a document cannot be shown. */
export type ProblemMessage = z.infer<typeof problemMessage>;
export type HostMessage = z.infer<typeof hostMessage>;
/** Webview to host; places and actions are named by index only, never by path or command. */
export type WebviewMessage = z.infer<typeof webviewMessage>;
/** What the webview keeps across hiding and reloading. */
export type WebviewState = z.infer<typeof webviewState>;

/** Checks a message that arrived in the host; undefined for anything that is not exactly one of ours. */
export function readWebviewMessage(value: unknown): WebviewMessage | undefined {
  return webviewMessage.safeParse(value).data;
}

/** Checks a message that arrived in the webview; undefined for anything that is not exactly one of ours. */
export function readHostMessage(value: unknown): HostMessage | undefined {
  return hostMessage.safeParse(value).data;
}

/** Checks a state that the webview kept earlier, possibly in an older version of this extension. */
export function readWebviewState(value: unknown): WebviewState | undefined {
  return webviewState.safeParse(value).data;
}
