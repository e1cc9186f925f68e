/** What goes into the frame of a document page. */
export interface DocumentFrame {
  readonly scriptUri: string;
  readonly styleUri: string;
  /** The webview's `cspSource`. */
  readonly cspSource: string;
  /** Fresh for every page. */
  readonly nonce: string;
  /** Language of the editor, as a BCP 47 tag. */
  readonly language: string;
}

/**
 * The content security policy of a document: our one script and stylesheet, and nothing else loads, runs, is submitted or
 * turned from text into markup, except through DOMPurify.
 */
export function documentPolicy(frame: Pick<DocumentFrame, 'cspSource' | 'nonce'>): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${frame.nonce}'`,
    `style-src ${frame.cspSource}`,
    "font-src 'none'",
    "img-src 'none'",
    "connect-src 'none'",
    "frame-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types dompurify',
  ].join('; ');
}

/** The page around a document; the document itself arrives as a message. */
export function documentHtml(frame: DocumentFrame): string {
  return `<!DOCTYPE html>
<html lang="${attribute(frame.language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${attribute(documentPolicy(frame))}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Whitebox</title>
<link rel="stylesheet" href="${attribute(frame.styleUri)}">
</head>
<body>
<script nonce="${attribute(frame.nonce)}" src="${attribute(frame.scriptUri)}"></script>
</body>
</html>
`;
}

function attribute(value: string): string {
  return value.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
