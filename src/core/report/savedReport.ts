import { createHash } from 'node:crypto';
import { toInertHtml } from './inertHtml.ts';

/** A report as one file. */
export interface SavedReport {
  readonly title: string;
  /** As a BCP 47 tag. */
  readonly language: string;
  /** As the view serialised it. */
  readonly body: string;
  /** Our own style sheet. */
  readonly style: string;
}

/** A page that needs nothing beside itself, and in which nothing runs, loads or is submitted; undefined when its body is not inert. */
export function toSavedHtml({ title, language, body, style }: SavedReport): string | undefined {
  const inert = toInertHtml(body);
  if (inert === undefined) return undefined;
  const hash = createHash('sha256').update(style).digest('base64');
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${hash}'`,
    // The lengths of the chart's bars; the body has no other style attribute.
    "style-src-attr 'unsafe-inline'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return `<!DOCTYPE html>
<html lang="${escape(language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${escape(title)}</title>
<style>${style}</style>
</head>
<body>
${inert}
</body>
</html>
`;
}

function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
