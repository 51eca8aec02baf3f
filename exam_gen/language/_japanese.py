"""Japanese: prompts, and the words by which rules read Japanese texts. The word lists are ours."""

from __future__ import annotations

import re

from exam_gen.language._exam_language import GAP, ExamLanguage, FoundSpan, WriterPrompts

_PROMPTS = WriterPrompts(
    version="ja-1",
    topic="話題：",
    sentence="文：",
    question="質問：",
    answer="答え：",
    statement="記述：",
    gap="空欄：",
    exam_question="試験問題：",
    plain_words="やさしい言葉で：",
    right_answer="正しい答え：",
    wrong_answers="誤った答え：",
    proposed_answer="答えの案：",
    reply="返答：",
    yes="はい",
    no="いいえ",
    question_system="あなたは一つの事実から試験の質問を作ります。質問は対象の名前を省略せずに書き、文の条件を残し、文がなくても意味が通じ、答えを含みません。答えは文から書き写した短い語句です。",
    crossing="文は別の言語で書かれていますが、質問と答えは日本語で書きます。",
    gap_system="あなたは空欄のある記述から質問を作ります。質問は空欄に入るものをたずね、それを含まず、対象の名前を省略せずに書き、記述がなくても意味が通じます。",
    wording_system="あなたは試験の質問を、同じ答えを必要とする人がたずねるように、日常のやさしい言葉で言い換えます。たずねる対象の名前はそのまま残し、ほかの言葉はすべて変えます。",
    wrong_system="あなたは試験の質問の誤った答えを作ります。どれも誤りで、事実を知らない人にはもっともらしく、正しい答えと同じ形と長さです。",
    search_request="ある人が何かを調べてこの文章を紹介され、役に立ちました。その人の質問は、文章の言葉ではなく自分の日常の言葉で言うと何でしたか。日本語の短い質問を一つだけ書いてください。",
    open_request="文章から書き写した短い語句で答えてください。",
    answerable_request="この文章はこの質問の答えを述べていますか。はい か いいえ で答えてください。",
    judgment_request="この答えは文章によれば正しく、十分ですか。はい か いいえ で答えてください。",
    about="{title}について日本語で一文を書いてください。",
    closed_request="日本語の短い語句で答えてください。",
    completion="{title}：「{statement}」の空欄に入る答えはどれですか？",
    question_examples=(
        (
            "誘導電動機",
            "誘導電動機は始動時に定格電流の六倍の電流を流す。",
            "誘導電動機は始動時にどれだけの電流を流しますか？",
            "定格電流の六倍",
        ),
        (
            "tar",
            "オプションを省略すると、tar はアーカイブを標準出力に書き出す。",
            "オプションを省略すると、tar はアーカイブをどこに書き出しますか？",
            "標準出力",
        ),
        (
            "冬の蜜蜂",
            "働き蜂が女王蜂を囲む蜂球を作るので、群れは寒さの中で生き残る。",
            "蜜蜂の群れの働き蜂は寒さの中で生き残るために何を作りますか？",
            "女王蜂を囲む蜂球",
        ),
    ),
    gap_examples=(
        (
            "蜜蜂の越冬",
            f"{GAP}が女王蜂を囲む蜂球を作るので、群れは寒さの中で生き残る。",
            "働き蜂",
            "寒いときに女王蜂を囲む蜂球を作るのはどの蜂ですか？",
        ),
        (
            "壊血病",
            f"1747年に船の上で行われた試験は、{GAP}が壊血病を治すことを示した。",
            "柑橘類",
            "1747年に船の上で行われた試験では、どの果物が壊血病を治しましたか？",
        ),
        (
            "オンタリオ州の賃貸借",
            f"予告なしに退去する借主は{GAP}の家賃を支払う。",
            "二か月分",
            "オンタリオ州で予告なしに退去する借主はどれだけの家賃を支払いますか？",
        ),
        (
            "誘導電動機",
            f"誘導電動機は始動時に{GAP}の電流を流す。",
            "定格電流の六倍",
            "誘導電動機は始動時にどれだけの電流を流しますか？",
        ),
        (
            "tar",
            f"オプション -f を省略すると、tar はアーカイブを{GAP}に書き出す。",
            "標準出力",
            "オプション -f を省略すると、tar はアーカイブをどこに書き出しますか？",
        ),
    ),
    wording_examples=(
        (
            "誘導電動機は始動時にどれだけの電流を流しますか？",
            "三相モーターのスイッチを入れた瞬間って何アンペア食うの？",
        ),
        (
            "オプション -f を省略すると、tar はアーカイブをどこに書き出しますか？",
            "tar でファイル名を付けなかったら中身はどこに行く？",
        ),
        (
            "蜜蜂の群れの働き蜂は寒さの中で生き残るために何を作りますか？",
            "ミツバチは冬の間どうやって体を温めているの？",
        ),
        ("壊血病はどのビタミンの欠乏によって起こりますか？", "壊血病になる人は食べ物の何が足りないの？"),
        (
            "オンタリオ州で住宅の賃貸借を終了するための最短の予告期間はどれだけですか？",
            "オンタリオで部屋を出るときはどれくらい前に言えばいい？",
        ),
        ("ロンドンのスズメの減少を記録したのは誰ですか？", "ロンドンでスズメが少なくなったと気づいたのは誰？"),
        ("高齢の患者のジゴキシンの投与量が少ないのはなぜですか？", "お年寄りがジゴキシンを少なめに飲むのはどうして？"),
    ),
    wrong_examples=(
        (
            "誘導電動機は始動時にどれだけの電流を流しますか？",
            "定格電流の六倍",
            "定格電流の半分; 無負荷電流の十倍; 制動電流の二倍; 定格電流と同じ",
        ),
        (
            "蜜蜂の群れの働き蜂は寒さの中で生き残るために何を作りますか？",
            "女王蜂を囲む蜂球",
            "巣門をふさぐ壁; 巣板をつなぐ鎖; 蜜の下に並ぶ輪; 幼虫を覆う層",
        ),
    ),
)

_KANJI = r"一-龯々〆"
_TEXT = r"(?:文章|文書|本文|文|段落|記事|論文|資料|節|章|抜粋|記述|表|図|例|説明|リスト|コード)"
_THIS = r"(?:この|その|これらの|それらの|上記の|下記の|以下の|次の|前述の|与えられた)"
_LEANS = re.compile(
    r"^\W*(?:これ|それ|あれ|この|その|あの|ここ|そこ|こう|そう|どちら|しかし|また|さらに|なお|ただし|例えば|たとえば|従って|したがって|よって|だから|つまり|すなわち|一方|他方|もちろん|同様|次に"
    r"|まず|最後に|以上|以下|上記|下記|注意|注記|警告|ヒント|もし|はい|いいえ|ちなみに|ところが|そして|それで|とりあえず|他の|別の|両方)|以下|上記|下記|前述|後述|次の|先ほど|参照"
    r"|第?\s?[\d.]+\s?[章節]|[図表]\s?\d|これ|それ|この|その|ここで|私|僕|我々|あなた|皆さん|例えば|たとえば|ください|下さい|ましょう|でしょう|しれません|思います"
)
_EMPTY = frozenset(
    """場合 方法 以下 上記 下記 必要 可能 使用 利用 実行 設定 内容 情報 問題 例 一つ 二つ 複数 全て 多数 最初 最後
    以上 以外 次 前 後 間 中
    上 下 時 際 他 他者 自分 通常 一般 基本 特定 同様 対象 部分 全体 結果 理由 目的 名前 種類 値 方 点 事 物 様
    用""".split()  # noqa: SIM905
)
_PHRASE = re.compile(
    rf"[{_KANJI}ァ-ヶー][{_KANJI}ァ-ヶーA-Za-z0-9]+(?:の[{_KANJI}ァ-ヶー][{_KANJI}ァ-ヶーA-Za-z0-9]+)?"
)
_THING = re.compile(rf"[{_KANJI}ァ-ヶー・A-Za-z0-9_./ -]+(?:の[{_KANJI}ァ-ヶー・A-Za-z0-9_./ -]+)*")


def _phrases(sentence: str) -> list[FoundSpan]:
    """The runs of Chinese characters and katakana, two of them joined by "no"; a verb's ending is hiragana."""
    found = []
    for one in _PHRASE.finditer(sentence):
        text = one.group()
        verb = re.match(
            r"(?:する|した|して|され|さ|でき|し(?!か)|[いうえおきくけこしすせそちつてとりるれろめみまんっ])",
            sentence[one.end() :],
        )
        if text in _EMPTY or (len(text) < 3 and (verb or len(text) < 2)):
            continue
        script = "k" if re.fullmatch(r"[ァ-ヶー]+", text) else "c" if re.fullmatch(rf"[{_KANJI}]+", text) else "m"
        found.append(FoundSpan(text, f"phrase:{3 if 'の' in text else 2}{script}", one.start()))
    return found


JAPANESE_MODULE = ExamLanguage(
    code="ja",
    prompts=_PROMPTS,
    question_word=re.compile(
        r"何|なに|なん(?=です|の|で|と)|は[？?]$|どの|どれ|どこ|どちら|どんな|どう|いつ|誰|だれ|なぜ|いくつ|いくら"
    ),
    first_person=re.compile(r"私|僕|俺|我々|あなた"),
    mentions_text=re.compile(rf"{_THIS}{_TEXT}|(?:本文|文章|文中)[でに]|{GAP}"),
    open_ended=re.compile(r"例を(?:一つ)?(?:挙げ|あげ)|例は何|主な(?:目的|特徴|利点)は何|重要性は何"),
    asks=re.compile(r"^(?:なぜ|どうして|どうやって|どのように|いつ|どこで)"),
    references=(
        re.compile(rf"{_THIS}{_TEXT}"),
        re.compile(r"(?:本文|文章|文中|記事|資料|抜粋)(?:によれば|によると|では|の中で|において|に)"),
        re.compile(r"(?:上で|前に)(?:述べ|説明し)た|上述|前述|下記|[図表]\s?\d"),
        re.compile(r"著者|筆者|この(?:場合|例|状況)"),
    ),
    unnamed=(re.compile(r"^(?:これ|それ|あれ|彼|彼女)(?:は|が|を|に|の)"),),
    leans=lambda sentence, _title: _LEANS.search(sentence) is not None,
    open_end=re.compile(r"[はがをにへとでも、。]$|(?:から|まで|より|など)$"),
    joins="や|と|か|または|もしくは|および|及び|、|，|・",
    lists="(?!)",
    negation=re.compile(r"(?<!なら)(?<!少)(?<!いけ)ない|(?<!なら)(?<!いけ)(?<!しれ)ません|(?<!なら)ずに|不可"),
    denial=re.compile(r"ない|ません|無し|なし|のみ|だけ|少|減|不可"),
    catch_all=re.compile(
        r"(?:上記|以上|これら|選択肢)の?(?:すべて|全て|いずれ|どれ)|^(?:すべて|全て)(?:正しい)?$|どれでもない|いずれでもない|該当なし|^[A-D]と[A-D](?:の両方)?$|(?:記載"
        r"|言及)されていない"
    ),
    marked=re.compile(r"正解|不正解|[（(](?:正|誤|正しい|誤り)[）)]|(?:解説|説明|答え)\s*[:：]"),
    evades=re.compile(r"正しい|誤った|誤り|答え|質問|記述|無関係|不明|該当"),
    units="%|％|パーセント|万|億|千|バイト|ビット|KB|MB|GB|TB|KiB|MiB|GiB|kg|km|cm|mm|秒間?|分間?|時間|日間?|週間"
    "|か月|ヶ月|月|年間?"
    "|文字|個|回|人|倍|度|円|行|本|台|種類|桁",
    phrases=_phrases,
    names_thing=lambda _sentence, text: len(text) <= 20 and _THING.fullmatch(text) is not None,
)
"""What is known of Japanese, whose noun phrases are found by their script."""
