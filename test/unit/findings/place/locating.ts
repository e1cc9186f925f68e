import type { Locate } from '../../../../src/core/findings/place/locate.ts';

/** What was sent, and is here. */
export const files = [
  'app.py',
  'src/orders.py',
  'src/views.py',
  'web/views.py',
  'web/my page.ts',
  'web/100%25.ts',
  'src/注文.py',
  'pkg/src/deep/only.py',
];

/** The path that a text is found at, or the reason why it is not. */
export async function answer(locatePath: Locate, text: string): Promise<string> {
  const located = await locatePath(text);
  return located.kind === 'file' ? located.path : `(${located.reason})`;
}
