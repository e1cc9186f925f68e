/**
 * Functions that run inside the page use these members of an element. The tests' sources see no
 * DOM types, and such functions may use nothing from outside themselves.
 */
export interface PageElement {
  readonly textContent: string | null;
  /** Only an input has this. */
  readonly value?: string;
  readonly style: { readonly top: string };
  getBoundingClientRect(): { readonly top: number; readonly bottom: number };
  closest(selector: string): PageElement | null;
  getAttribute(name: string): string | null;
  querySelector(selector: string): PageElement | null;
  querySelectorAll(selector: string): ArrayLike<PageElement> & Iterable<PageElement>;
}
